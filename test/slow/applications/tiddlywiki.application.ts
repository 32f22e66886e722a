import { randomBytes } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { expect } from 'chai';
import { eventually } from '../../harness/system/eventually.ts';
import { describeApplication, programOf } from './support/applications.ts';

const picture = randomBytes(3_000_000);

describeApplication(
  {
    name: 'tiddlywiki',
    async start({ workspace, port }) {
      const program = programOf('tiddlywiki/tiddlywiki.js');
      const folder = workspace.path('wiki');
      await workspace.run(process.execPath, [program, folder, '--init', 'server']);
      // It takes the person's name from the relay.
      const words = [program, folder, '--listen', 'host=127.0.0.1', `port=${port}`];
      const person = 'authenticated-user-header=x-forwarded-user';
      await workspace.serve(process.execPath, [...words, person], { host: '127.0.0.1', port });
    },
  },
  {
    async 'saves what a person writes and imports, under their name'({ page, place, isBehindRelay, picture: shown }) {
      await page.getByRole('button', { name: 'new tiddler', exact: false }).first().click();
      const title = page.locator('.tc-titlebar.tc-edit-texteditor').first();
      await title.fill('A page of Ada');
      await page.frameLocator('.tc-tiddler-edit-frame iframe').locator('textarea').first().fill('Some //words//.');
      await page.locator('.tc-tiddler-controls button[title^="Confirm"]').click();
      await page.locator('.tc-tiddler-body em', { hasText: 'words' }).waitFor();
      const names = () => readdir(place.workspace.path('wiki/tiddlers'));
      await eventually(async () => expect(await names()).to.include('A page of Ada.tid'));
      const written = await readFile(place.workspace.path('wiki/tiddlers/A page of Ada.tid'), 'utf8');
      if (isBehindRelay) expect(written).to.include('creator: ada');
      await page.getByRole('tab', { name: 'Tools' }).click();
      const image = { name: 'picture.bin', mimeType: 'application/octet-stream', buffer: picture };
      await page.locator('input[type=file]').first().setInputFiles(image);
      await page.getByRole('button', { name: 'Import', exact: true }).first().click();
      await eventually(async () => expect((await names()).join()).to.include('picture.bin'));
      await shown('imported');
      await page.reload();
      await page.goto(`${place.address}/#A%20page%20of%20Ada`);
      await page.locator('.tc-tiddler-body em', { hasText: 'words' }).waitFor();
    },
  },
  // It asks for other ways to save, which its own server does not have.
  (complaint) => /^404 (?:OPTIONS|HEAD) /.test(complaint),
);
