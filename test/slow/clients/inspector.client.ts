import { createRequire } from 'node:module';
import { expect } from 'chai';
import type { Page } from 'playwright-core';
import { needsChromium, screenshot, useBrowser } from '../../harness/browser/chromium.ts';
import { granted } from '../../harness/browser/fake-browser.ts';
import { redirect } from '../../harness/provider/provider-behaviours.ts';
import { eventually } from '../../harness/system/eventually.ts';
import { freePort } from '../../harness/system/free-port.ts';
import { startedOnce } from '../../harness/system/started-once.ts';
import { Workspace } from '../../harness/system/workspace.ts';
import { GatewayRig } from './support/gateway-rig.ts';
import { programOf } from './support/programs.ts';

const { describe } = needsChromium();

/** How somebody starts an Inspector, connects with a server there, and uses its tool "echo". */
interface Inspector {
  /** Its program, and what follows it on the command line. */
  words(url: string): readonly string[];
  /** Its page is told where its proxy and its server are, and connects. */
  connect(page: Page, at: { readonly client: number; readonly proxy: number; readonly url: string }): Promise<void>;
  echo(page: Page): Promise<void>;
}

const earlier = (version: string): Inspector => ({
  words: () => [
    createRequire(programOf('../programs/package.json')).resolve(`inspector-${version}/client/bin/start.js`),
  ],
  async connect(page, { client, proxy, url }) {
    const query = new URLSearchParams({ transport: 'streamable-http', serverUrl: url });
    await page.goto(`http://localhost:${client}/?${query}`);
    await page.getByRole('button', { name: 'Configuration' }).click();
    await page.getByTestId('MCP_PROXY_FULL_ADDRESS-input').fill(`http://localhost:${proxy}`);
    await page.getByRole('button', { name: 'Connect' }).click();
  },
  async echo(page) {
    await page.getByRole('tab', { name: 'Tools' }).click();
    await page.getByRole('button', { name: 'List Tools' }).click();
    await page.getByText('echo', { exact: true }).first().click();
    await page.getByLabel(/message/).fill('hello');
    await page.getByRole('button', { name: 'Run Tool' }).click();
  },
});

const inspectors: Readonly<Record<string, Inspector>> = {
  '0.15': earlier('0.15'),
  '0.19': earlier('0.19'),
  '2.12': {
    words: (url) => [
      programOf('@modelcontextprotocol/inspector/clients/launcher/build/index.js'),
      '--web',
      '--transport',
      'http',
      '--server-url',
      url,
    ],
    async connect(page, { client }) {
      await page.goto(`http://localhost:${client}`);
      // The visible part of the switch lies above the element.
      await page.getByRole('switch', { name: 'Connect' }).click({ force: true });
    },
    async echo(page) {
      await page.getByText('Tools', { exact: true }).click();
      await page.getByRole('button', { name: 'Echo Tool' }).click();
      await page.getByRole('textbox', { name: 'message' }).fill('hello');
      await page.getByRole('button', { name: /^(execute|run|call)/i }).click();
    },
  },
};

describe('the Inspector in Chromium, through its proxy, logs in and uses a tool:', () => {
  const openPage = useBrowser();
  // Version 0.15 looks for metadata at the host alone, which a host of two resources cannot answer.
  const start = () => GatewayRig.start({ clients: 'registration: true', servers: ['everything'] });
  const rig = startedOnce('the gateway and its server', start, (one) => one.stop());
  let workspace: Workspace;

  beforeEach('the provider agrees to every login', async () => {
    workspace = await Workspace.create();
    rig().forget();
    const { provider } = rig().relay;
    const { pathname } = new URL(provider.authorizeUrl);
    provider.pages = { [pathname]: (response, { url }) => redirect(granted(provider, url))(response) };
  });
  afterEach('the Inspector ends', () => workspace.close());

  for (const [version, inspector] of Object.entries(inspectors)) {
    it(version, async () => {
      const url = rig().urls.everything;
      const client = await freePort();
      const proxy = await freePort();
      await workspace.serve(
        process.execPath,
        inspector.words(url),
        { host: 'localhost', port: client },
        {
          HOST: 'localhost',
          CLIENT_PORT: `${client}`,
          SERVER_PORT: `${proxy}`,
          MCP_SANDBOX_PORT: `${await freePort()}`,
          MCP_AUTO_OPEN_ENABLED: 'false',
          MCP_INSPECTOR_SECRET_STORE: 'file',
          DANGEROUSLY_OMIT_AUTH: 'true',
        },
      );
      const page = await openPage({ viewport: { width: 1300, height: 900 } });
      await inspector.connect(page, { client, proxy, url });
      await agree(page);
      await inspector.echo(page);
      await page.getByText('Echo: hello').first().waitFor();
      await screenshot(page, `inspector-${version}`);
      const used = rig().relay.lines.filter((line) => line['action'] === 'gateway');
      expect(used.at(-1)).to.include({ by: 'token', resource: 'everything' });
    });
  }

  /** Presses *Continue* as a person does who reads the question. A press that comes too early does not count. */
  async function agree(page: Page): Promise<void> {
    const button = page.getByRole('button', { name: 'Continue' });
    await button.waitFor();
    await eventually(async () => {
      for (const y of [100, 200, 300]) await page.mouse.move(300, y);
      await page.waitForTimeout(1100);
      if (page.url().startsWith(rig().relay.address)) await button.click();
      await page.waitForURL('http://localhost:**', { timeout: 3000 });
    });
  }
});
