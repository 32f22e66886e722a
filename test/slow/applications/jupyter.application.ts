import { createHash, randomBytes } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { expect } from 'chai';
import { eventually } from '../../harness/system/eventually.ts';
import { describeApplication } from './support/applications.ts';

const notebook = JSON.stringify({
  cells: [{ cell_type: 'code', execution_count: null, metadata: {}, outputs: [], source: 'print(6 * 7, "is live")' }],
  metadata: { kernelspec: { display_name: 'Python 3', language: 'python', name: 'python3' } },
  nbformat: 4,
  nbformat_minor: 4,
});
const data = randomBytes(5_000_000);

/** A password as Jupyter's settings hold it. */
function passwordOf(text: string): string {
  const salt = '0123456789ab';
  return `sha1:${salt}:${createHash('sha1')
    .update(text + salt)
    .digest('hex')}`;
}

describeApplication(
  {
    name: 'jupyter',
    programs: ['jupyter-notebook'],
    async start({ workspace, port }) {
      const settings = `
c.NotebookApp.ip = '127.0.0.1'
c.NotebookApp.port = ${port}
c.NotebookApp.open_browser = False
c.NotebookApp.allow_root = True
c.NotebookApp.password = '${passwordOf('own password')}'
c.NotebookApp.notebook_dir = '${workspace.folder}'
# Otherwise it answers 403 to every host name that is not of this machine.
c.NotebookApp.allow_remote_access = True
`;
      const words = ['--config', await workspace.write('settings.py', settings)];
      await workspace.serve('/usr/bin/jupyter-notebook', words, { host: '127.0.0.1', port });
    },
  },
  {
    async 'has its own login, takes uploads, and runs and saves a notebook'({ page, place, picture }) {
      await page.locator('#password_input').fill('own password');
      await page.locator('#login_submit').click();
      await page.locator('#notebook_list').waitFor();
      for (const [name, buffer] of Object.entries({ 'data.bin': data, 'live.ipynb': Buffer.from(notebook) })) {
        const file = { name, mimeType: 'application/octet-stream', buffer };
        await page.locator('#alternate_upload input[type=file]').setInputFiles(file);
        await page.locator('.upload_button:visible').click();
        await page.getByRole('link', { name }).waitFor();
      }
      await picture('uploaded');
      expect((await readFile(place.workspace.path('data.bin'))).equals(data)).to.equal(true);
      await page.goto(`${place.address}/notebooks/live.ipynb`);
      await page.locator('.kernel_idle_icon').waitFor();
      await page.locator('.code_cell').click();
      await page.keyboard.press('Control+Enter');
      await page.locator('.output_stdout', { hasText: '42 is live' }).waitFor();
      await page.keyboard.press('Control+s');
      const saved = () => readFile(place.workspace.path('live.ipynb'), 'utf8');
      await eventually(async () => expect(await saved()).to.include('42 is live'));
      await picture('run');
      await page.reload();
      await page.locator('.output_stdout', { hasText: '42 is live' }).waitFor();
      await page.goto(`${place.address}/tree`);
      await page.locator('#logout').click();
      await page.getByText('Successfully logged out').waitFor();
    },
  },
  // Debian's package has no widgets.
  (complaint) => complaint.includes('/nbextensions/widgets/'),
);
