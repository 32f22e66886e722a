import { randomBytes } from 'node:crypto';
import { describeApplication } from './support/applications.ts';

const pieces = 100_000;
const torrent = Buffer.concat([
  Buffer.from(`d4:infod6:lengthi${pieces * 262_144}e4:name8:data.bin12:piece lengthi262144e6:pieces${pieces * 20}:`),
  randomBytes(pieces * 20),
  Buffer.from('ee'),
]);

describeApplication(
  {
    name: 'transmission',
    programs: ['transmission-daemon'],
    httpCredentials: { username: 'editor', password: 'own password' },
    async start({ workspace, port, address }) {
      const settings = {
        // It refuses every other host name.
        'rpc-host-whitelist': new URL(address).hostname,
        'rpc-authentication-required': true,
        'rpc-username': 'editor',
        'rpc-password': 'own password',
        'rpc-bind-address': '127.0.0.1',
        'rpc-port': port,
        'dht-enabled': false,
        'peer-port-random-on-start': true,
      };
      await workspace.write('settings.json', JSON.stringify(settings));
      const words = ['--foreground', '--config-dir', workspace.folder];
      await workspace.serve('transmission-daemon', words, { host: '127.0.0.1', port });
    },
  },
  {
    async 'has its own login, and takes a file of 2 MB'({ page, picture }) {
      await page.locator('#toolbar-open').click();
      const file = { name: 'data.torrent', mimeType: 'application/x-bittorrent', buffer: torrent };
      await page.locator('#torrent_upload_file').setInputFiles(file);
      await page.locator('#torrent_auto_start').uncheck();
      await page.locator('#upload_confirm_button').click();
      await page.locator('.torrent_name', { hasText: 'data.bin' }).waitFor();
      await picture('uploaded');
      await page.reload();
      await page.locator('.torrent_name', { hasText: 'data.bin' }).waitFor();
    },
  },
  // It tells its page so which header proves that the page is its own.
  (complaint) => complaint === '409 POST /transmission/rpc',
);
