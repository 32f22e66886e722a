import { createHash, randomBytes } from 'node:crypto';
import { cp, mkdir, readFile, writeFile } from 'node:fs/promises';
import { expect } from 'chai';
import { describeApplication } from './support/applications.ts';

const media = randomBytes(3_000_000);

describeApplication(
  {
    name: 'dokuwiki',
    programs: ['php'],
    async start({ workspace, port }) {
      const root = workspace.path('wiki');
      await cp('/usr/share/dokuwiki', root, { recursive: true, dereference: true });
      for (const folder of [
        'attic',
        'cache',
        'index',
        'locks',
        'log',
        'media',
        'media_attic',
        'media_meta',
        'meta',
        'pages',
        'tmp',
      ])
        await mkdir(`${root}/data/${folder}`, { recursive: true });
      await cp('/etc/dokuwiki', `${root}/conf`, { recursive: true, dereference: true });
      const settings = `<?php
$conf['title'] = 'A wiki'; $conf['useacl'] = 1; $conf['superuser'] = 'editor'; $conf['authtype'] = 'authplain'; $conf['passcrypt'] = 'sha1';
$conf['savedir'] = '${root}/data'; $conf['updatecheck'] = 0; $conf['disableactions'] = 'register';
`;
      await writeFile(`${root}/conf/local.php`, settings);
      await writeFile(`${root}/inc/preload.php`, `<?php define('DOKU_CONF', '${root}/conf/');`);
      await writeFile(
        `${root}/conf/users.auth.php`,
        `editor:${createHash('sha1').update('own password').digest('hex')}:Editor:editor@example.com:admin,user\n`,
      );
      await writeFile(`${root}/conf/acl.auth.php`, '*\t@ALL\t1\n*\t@user\t8\n');
      await writeFile(`${root}/conf/mime.local.conf`, 'bin !application/octet-stream\n');
      await workspace.serve(
        'php',
        ['-d', 'upload_max_filesize=20M', '-d', 'post_max_size=20M', '-S', `127.0.0.1:${port}`, '-t', root],
        { host: '127.0.0.1', port },
        { PHP_CLI_SERVER_WORKERS: '4' },
      );
    },
  },
  {
    async 'has its own login, saves a page, and takes an upload of 3 MB'({ page, place, picture }) {
      await page.goto(`${place.address}/doku.php?id=start&do=login`);
      await page.locator('[name=u]').fill('editor');
      await page.locator('[name=p]').fill('own password');
      await page.locator('#dw__login [type=submit]').click();
      await page.locator('.user', { hasText: 'Editor' }).waitFor();
      await page.goto(`${place.address}/doku.php?id=notes&do=edit`);
      await page.locator('#wiki__text').fill('Some **words** of the editor.');
      await page.locator('#edbtn__save').click();
      await page.locator('.page strong', { hasText: 'words' }).waitFor();
      expect(await page.url()).to.include(`${place.address}/doku.php?id=notes`);
      await page.goto(`${place.address}/doku.php?id=notes&do=media&tab_files=upload&ns=`);
      await page
        .locator('input[type=file]')
        .setInputFiles({ name: 'data.bin', mimeType: 'application/octet-stream', buffer: media });
      await page.locator('#mediamanager__upload_button').click();
      await page.locator('.qq-upload-success').waitFor();
      expect((await readFile(place.workspace.path('wiki/data/media/data.bin'))).equals(media)).to.equal(true);
      await picture('uploaded');
      await page.goto(`${place.address}/doku.php?id=notes`);
      await page.reload();
      await page.locator('.page strong', { hasText: 'words' }).waitFor();
      await page.locator('.action.logout').first().click();
      await page.locator('.action.login').first().waitFor();
    },
  },
);
