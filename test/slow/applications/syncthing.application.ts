import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { describeApplication } from './support/applications.ts';

const username = 'editor';
const password = 'own password';

describeApplication(
  {
    name: 'syncthing',
    programs: ['syncthing'],
    httpCredentials: { username, password },
    async start({ workspace, port }) {
      const home = workspace.path('home');
      const own = [`--home=${home}`, `--gui-user=${username}`, `--gui-password=${password}`];
      await workspace.run('syncthing', ['generate', ...own, '--skip-port-probing', '--no-default-folder']);
      // Otherwise it refuses every host name that is not of this machine.
      const file = `${home}/config.xml`;
      const settings = await readFile(file, 'utf8');
      const unchecked = '<insecureSkipHostcheck>true</insecureSkipHostcheck></gui>';
      await writeFile(file, settings.replace('</gui>', unchecked).replace('<urAccepted>0', '<urAccepted>-1'));
      await mkdir(workspace.path('shared'));
      const listens = `--gui-address=127.0.0.1:${port}`;
      const words = ['serve', `--home=${home}`, '--no-browser', '--no-restart', '--no-upgrade', listens];
      await workspace.serve('syncthing', words, { host: '127.0.0.1', port });
    },
  },
  {
    async 'has its own login, keeps a new folder, and shows what happens as it happens'({ page, place, picture }) {
      await page.getByText('v1.').first().waitFor();
      await page.getByRole('button', { name: 'Add Folder' }).click();
      await page.locator('#folderLabel').fill('Notes of Ada');
      await page.locator('#folderPath').fill(place.workspace.path('shared'));
      await page.locator('#editFolder').getByRole('button', { name: 'Save' }).click();
      await page.locator('#folders .panel-title', { hasText: 'Notes of Ada' }).waitFor();
      await page.locator('#folders').getByText('Unshared').first().waitFor();
      await writeFile(place.workspace.path('shared/notes.txt'), 'x'.repeat(123_456));
      await page.locator('#folders').getByText('121 KiB').first().waitFor({ state: 'attached' });
      await picture('folder');
      await page.reload();
      await page.locator('#folders .panel-title', { hasText: 'Notes of Ada' }).waitFor();
    },
  },
  // It asks for a newer version, of which it cannot know here.
  (complaint) => complaint.includes('/rest/system/upgrade'),
);
