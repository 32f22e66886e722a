import { mkdir, writeFile } from 'node:fs/promises';
import { eventually } from '../../harness/system/eventually.ts';
import { describeApplication, programOf } from './support/applications.ts';

const pageOf = (words: string) => `<!doctype html><title>A page</title><h1>${words}</h1>`;

describeApplication(
  {
    name: 'servor',
    async start({ workspace, port }) {
      const folder = workspace.path('pages');
      await mkdir(folder);
      await writeFile(`${folder}/index.html`, pageOf('First words'));
      const words = [programOf('servor/cli.js'), folder, 'index.html', `${port}`, '--reload'];
      await workspace.serve(process.execPath, words, { host: '127.0.0.1', port });
    },
  },
  {
    async 'reloads its page by an event stream when a file changes'({ page, place }) {
      for (const words of ['Second words', 'Third words']) {
        // A page that does not listen yet is not told.
        await eventually(async () => {
          await writeFile(place.workspace.path('pages/index.html'), pageOf(words));
          await page.getByRole('heading', { name: words }).waitFor({ timeout: 3000 });
        });
      }
    },
  },
);
