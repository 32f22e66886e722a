import { execFile } from 'node:child_process';
import { cp, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, dirname, extname, join } from 'node:path';
import { promisify } from 'node:util';
import { expect } from 'chai';
import { needsChromium, useBrowser } from '../../harness/browser/chromium.ts';
import { cancel, countLookUps, loggedIn, logIn, shows } from './support/client-page.ts';
import { useClientSite } from './support/site.ts';

const { describe } = needsChromium();
const run = promisify(execFile);
const examples = join(import.meta.dirname, '../../../examples');
const output = { next: 'out', nuxt: '.output/public', sveltekit: 'build', astro: 'dist' };
const types: Readonly<Record<string, string>> = { '.js': 'text/javascript', '.css': 'text/css' };

for (const [name, built] of Object.entries(output)) {
  describe(`the example ${name}, installed from the relay, built and prerendered`, function () {
    this.timeout(600_000);
    const openPage = useBrowser();
    let folder = '';
    const site = useClientSite('tokens', async () => async (request, response) => {
      const { pathname } = new URL(request.url ?? '', 'http://localhost');
      const path = pathname === '/' ? '/index.html' : pathname;
      const file = await readFile(join(folder, built, path)).catch(() => undefined);
      response.writeHead(file ? 200 : 404, {
        'Content-Type': types[extname(path)] ?? 'text/html; charset=utf-8',
      });
      response.end(file);
    });

    before('install and build', async () => {
      folder = await mkdtemp(join(tmpdir(), `${name}-`));
      await cp(join(examples, name), folder, { recursive: true });
      for (const file of await readdir(folder, { recursive: true })) {
        if (!/\blogin\.[jt]s$/.test(file)) continue;
        const text = await readFile(join(folder, file), 'utf8');
        await writeFile(join(folder, file), text.replace('http://localhost:8000', site().relayUrl));
      }
      const PATH = `${dirname(process.execPath)}${delimiter}${process.env['PATH']}`;
      const env = { ...process.env, PATH, CI: '1', NODE_ENV: 'production' };
      // Not every system knows the hosts of localhost that browsers know.
      const url = `http://localhost:${new URL(site().relayUrl).port}/client.tgz`;
      const install = ['install', '--no-audit', '--no-fund', url];
      await run('npm', install, { cwd: folder, env });
      await run('npm', ['run', 'build'], { cwd: folder, env });
    });
    after('remove it', () => rm(folder, { recursive: true }));

    it('logs a person in, without another call in a reload and in a new tab, and logs out', async () => {
      expect(await readFile(join(folder, built, 'index.html'), 'utf8')).to.include('Log out');
      const page = await openPage();
      await page.goto(site().frontEnd);
      await shows(page, 'You are not logged in.');
      const lookUps = countLookUps(page);
      await cancel(page);
      await page.getByRole('alert').getByText(/./).waitFor();
      await shows(page, 'You are not logged in.');
      expect(lookUps()).to.equal(0);
      await logIn(page);
      const calls = site().provider.tokenRequests.length;
      await page.reload();
      await loggedIn(page);
      await page.waitForLoadState('networkidle');
      expect(lookUps()).to.equal(2);
      const isAway = (url: URL) => url.origin === new URL(site().relayUrl).origin;
      await page.route(isAway, (route) => route.abort());
      await page.reload();
      await loggedIn(page);
      await page.unroute(isAway);
      const tab = await page.context().newPage();
      await tab.goto(site().frontEnd);
      await loggedIn(tab);
      expect(site().provider.tokenRequests).to.have.length(calls);
      await tab.getByRole('button', { name: 'Log out' }).click();
      await shows(page, 'You are not logged in.');
    });
  });
}
