import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import type { Page } from 'playwright-core';
import { needsChromium, screenshot, useBrowser } from '../../harness/browser/chromium.ts';
import { containerPage, documented, readmePage } from '../../harness/project/shipped-pages.ts';
import { useLoginSite } from '../../harness/relay/login-site.ts';
import { loggedIn, logIn, shows } from './support/client-page.ts';
import { useClientSite } from './support/site.ts';

const { describe } = needsChromium();

const example = (path: string) =>
  readFileSync(new URL(`../../../examples/${path}`, import.meta.url), 'utf8');
const onePage = (pageFor: (relay: string) => string) => (relay: string) => ({
  '/': pageFor(relay),
});
const plain = onePage((relay) =>
  example('plain/index.html').replaceAll('http://localhost:8000', relay),
);

const apps = [
  { name: 'the README’s page', path: '/', pages: onePage(readmePage) },
  { name: 'the container’s page', path: '/', pages: onePage(containerPage) },
  { name: 'plain', path: '/', login: 'index.html', pages: plain },
];

for (const { name, path, pages, ...app } of apps) {
  describe(`${name} in Chromium`, () => {
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
      await screenshot(page, `example-${name.replaceAll(/\W+/g, '-')}`);
      await page.reload();
      await loggedIn(page);
      await page.getByRole('button', { name: 'Log out' }).click();
      await shows(page, 'You are not logged in.');
      await page.reload();
      await shows(page, 'You are not logged in.');
      expect(complaints).to.deep.equal([]);
    });

    const { login } = { login: undefined, ...app };
    if (login === undefined) return;
    it('has 15 lines at most about the login', () => {
      const code = example(`${name}/${login}`).split(/<\/?script.*>/)[1];
      const lines = code?.split('\n').filter((line) => /^(?! *\/\*\*).*\S/.test(line)) ?? [];
      expect(lines.length).to.be.within(8, 15);
    });
  });
}

describe('the documents', () => {
  const openPage = useBrowser();
  const site = useLoginSite({ frontEnd: readmePage });

  it('have an end-to-end test, which logs in at the demo’s provider', async () => {
    const page = await openPage();
    const test = documented('end-to-end.js', site().relay);
    const here = test.replace('http://localhost:5173', site().frontEnd);
    expect(here).to.not.equal(test);
    const run: (page: Page) => Promise<void> = new Function(
      'page',
      `return (async () => {\n${here}})();`,
    ).bind(undefined);
    await run(page);
    expect(page.url()).to.equal(`${site().frontEnd}/`);
  });
});
