import { describeApplication, programOf } from './support/applications.ts';

/** Two nodes that show in the side bar, over the editor's WebSocket, what comes every second. */
const flow = JSON.stringify([
  { id: 'f1', type: 'tab', label: 'Clock' },
  {
    id: 'n1',
    type: 'inject',
    z: 'f1',
    name: 'tick',
    props: [{ p: 'payload' }],
    repeat: '1',
    once: true,
    payload: 'a live update',
    payloadType: 'str',
    x: 200,
    y: 100,
    wires: [['n2']],
  },
  {
    id: 'n2',
    type: 'debug',
    z: 'f1',
    name: 'shown',
    active: true,
    tosidebar: true,
    complete: 'payload',
    targetType: 'msg',
    x: 400,
    y: 100,
    wires: [],
  },
]);

describeApplication(
  {
    name: 'node-red',
    // It has no login of its own: its pages would send a bearer token, which the relay takes for one of the resource.
    async start({ workspace, port }) {
      const settings = `module.exports = {
  uiHost: '127.0.0.1', uiPort: ${port}, userDir: ${JSON.stringify(workspace.folder)}, flowFile: 'flows.json',
  credentialSecret: 'x', telemetry: { enabled: false }, editorTheme: { tours: false },
};`;
      const words = [programOf('node-red/red.js'), '--settings', await workspace.write('settings.js', settings)];
      await workspace.serve(process.execPath, words, { host: '127.0.0.1', port });
    },
  },
  {
    async 'takes a flow, and shows what happens as it happens'({ page, picture }) {
      await page.locator('#red-ui-header-button-deploy').waitFor();
      await page.keyboard.press('Control+i');
      await page.locator('#red-ui-clipboard-dialog-import-text').fill(flow);
      await page.keyboard.press('End');
      await picture('import');
      await page.locator('#red-ui-clipboard-dialog-ok').click();
      await page.locator('#red-ui-workspace-chart').click({ position: { x: 300, y: 300 } });
      await page.locator('#red-ui-header-button-deploy').click();
      await page.keyboard.press('Control+g');
      await page.keyboard.press('d');
      await page.locator('.red-ui-debug-msg-payload', { hasText: 'a live update' }).first().waitFor();
      await picture('live');
      await page.reload();
      await page.locator('.red-ui-tab-label', { hasText: 'Clock' }).first().waitFor();
      await page.locator('.red-ui-debug-msg-payload', { hasText: 'a live update' }).first().waitFor();
    },
  },
);
