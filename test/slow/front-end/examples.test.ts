import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import { needsChromium, screenshot, useBrowser } from '../../harness/browser/chromium.ts';
import { loggedIn, logIn, shows } from './support/client-page.ts';
import { useClientSite } from './support/client-site.ts';
import { builtExample, needsExamples, plainExample } from './support/example-pages.ts';

const { describe } = needsChromium();
const { describe: describeBuilt } = needsExamples();

const apps = [
  { name: 'plain', path: '/', login: 'index.html', pages: plainExample, suite: describe },
  ...Object.entries({
    react: { path: '/profile', login: 'login.js' },
    vue: { path: '/', login: 'login.js' },
    svelte: { path: '/', login: 'login.svelte.js' },
  }).map(([name, app]) => ({ name, ...app, pages: builtExample(name), suite: describeBuilt })),
];

for (const { name, path, login, pages, suite } of apps) {
  suite(`the example ${name} in Chromium`, function () {
    this.timeout(60_000);
    const openPage = useBrowser();
    const site = useClientSite('tokens', pages);

    it('logs a person in, keeps the login over a reload, and logs out', async () => {
      const page = await openPage();
      const complaints: string[] = [];
      page.on('pageerror', ({ message }) => complaints.push(message));
      await page.goto(site().frontEnd + path);
      await shows(page, 'You are not logged in.');
      await logIn(page);
      expect(page.url()).to.equal(site().frontEnd + path);
      await screenshot(page, `example-${name}`);
      await page.reload();
      await loggedIn(page);
      await page.getByRole('button', { name: 'Log out' }).click();
      await shows(page, 'You are not logged in.');
      expect(complaints).to.deep.equal([]);
    });

    it('has 15 lines at most about the login', () => {
      const url = new URL(`../../../examples/${name}/${login}`, import.meta.url);
      const code = readFileSync(url, 'utf8')
        .split(/<\/?script.*>/)
        .at(login === 'index.html' ? 1 : 0);
      const lines = code?.split('\n').filter((line) => /^(?! *\/\*\*).*\S/.test(line)) ?? [];
      expect(lines.length).to.be.within(8, 15);
    });
  });
}
