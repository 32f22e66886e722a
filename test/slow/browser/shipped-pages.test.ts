import { expect } from 'chai';
import type { Page } from 'playwright-core';
import { needsChromium, screenshot, useBrowser } from '../../harness/browser/chromium.ts';
import {
  clientPage,
  containerPage,
  documented,
  fiveLinesPage,
  readmePage,
} from '../../harness/project/shipped-pages.ts';
import { authorize, startLogin, useLoginSite } from '../../harness/relay/login-site.ts';

const { describe } = needsChromium();

const pages = {
  'the README’s page': readmePage,
  'the page of client/README.md': clientPage,
  'the first page of docs/front-end.md': fiveLinesPage,
  'the container’s page': containerPage,
};

for (const [name, frontEnd] of Object.entries(pages)) {
  describe(`${name} in Chromium`, () => {
    const openBrowser = useBrowser();
    const site = useLoginSite({ frontEnd });
    let complaints: string[];

    async function openPage(): Promise<Page> {
      const page = await openBrowser();
      complaints = [];
      page.on('pageerror', ({ message }) => complaints.push(message));
      await page.goto(site().frontEnd);
      await loggedOut(page);
      return page;
    }

    afterEach('the page has not complained', () => {
      expect(complaints).to.deep.equal([]);
    });

    const shows = (page: Page, text: string) => page.getByText(text, { exact: true }).waitFor();
    const loggedOut = (page: Page) => shows(page, 'You are not logged in.');
    const loggedIn = (page: Page) => shows(page, 'Hello, ada-lovelace');

    async function logIn(page: Page): Promise<void> {
      await startLogin(page);
      await authorize(page, 'Ada Lovelace');
      await loggedIn(page);
    }

    it('logs a person in, keeps the login over a reload, and logs out', async () => {
      const page = await openPage();
      await logIn(page);
      expect(page.url()).to.equal(`${site().frontEnd}/`);
      await screenshot(page, name.replaceAll(/\W+/g, '-'));
      await page.reload();
      await loggedIn(page);
      await page.getByRole('button', { name: 'Log out' }).click();
      await loggedOut(page);
      await page.reload();
      await loggedOut(page);
    });
  });
}

describe('the end-to-end test of docs/front-end.md in Chromium', () => {
  const openPage = useBrowser();
  const site = useLoginSite({ frontEnd: fiveLinesPage });

  it('logs in at the demo’s provider', async () => {
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
