import { readFile } from 'node:fs/promises';
import { expect } from 'chai';
import { eventually } from '../../harness/system/eventually.ts';
import { describeApplication } from './support/applications.ts';

describeApplication(
  {
    name: 'cockpit',
    programs: ['cockpit-bridge'],
    async start({ workspace, port, address }) {
      // Its own login would be that of the machine, with PAM.
      const words = ['--address=127.0.0.1', `--port=${port}`, '--local-session=/usr/bin/cockpit-bridge'];
      // Otherwise it refuses WebSockets of pages that came by https.
      const behindTls = address.startsWith('https:') ? ['--for-tls-proxy'] : [];
      await workspace.serve('/usr/lib/cockpit/cockpit-ws', [...words, ...behindTls], { host: '127.0.0.1', port });
    },
  },
  {
    async 'runs a terminal'({ page, place, picture }) {
      await page.goto(`${place.address}/system/terminal`);
      const terminal = page.locator('iframe[name$="/system/terminal"]');
      await terminal.waitFor();
      await eventually(async () => {
        await terminal.click({ timeout: 5000 });
        await page.keyboard.type(`echo from-the-terminal >${place.workspace.path('terminal.txt')}\n`);
        expect(await readFile(place.workspace.path('terminal.txt'), 'utf8')).to.include('from');
      }, 1000);
      await picture('terminal');
      await page.reload();
      await terminal.waitFor();
    },
  },
  // Its own pages break its own policy.
  (complaint) => /^FormSelect|^Applying inline style/.test(complaint),
);
