import { expect } from 'chai';
import type { Page } from 'playwright-core';
import { needsChromium, useBrowser } from '../../harness/browser/chromium.ts';
import { plainPage } from '../../harness/project/shipped-pages.ts';
import { authorize, type LoginSiteOptions, startLogin, useLoginSite } from '../../harness/relay/login-site.ts';

/** Every page that the project ships, and its options for the site. */
const pages: Record<string, LoginSiteOptions> = {
  'the example contract': { frontEnd: plainPage },
  'the demo’s page': {},
};

/** The text that an attacker adds to the address of the page. `TOKEN` is a token of the attacker. */
const forgeries = [
  'access_token=TOKEN',
  'access_token=TOKEN&state=',
  'access_token=TOKEN&state=forged',
  'access_token=TOKEN&state=undefined',
  'access_token=&access_token=TOKEN&state=a&state=b',
  'access_token=TOKEN&error=access_denied',
  'error=access_denied',
  'error=<img/src=x/onerror=alert(1)>&error_description=<b>bold</b>&state=forged',
];

const { describe } = needsChromium();

for (const [name, options] of Object.entries(pages)) {
  describe(`a forged link to ${name}`, () => {
    const openPage = useBrowser();
    const site = useLoginSite(options);
    const stored = (page: Page) => page.evaluate('({ ...sessionStorage })');
    const logInButton = (page: Page) => page.getByRole('button', { name: 'Log in' });

    async function loggedIn(person: string): Promise<Page> {
      const page = await openPage();
      await page.goto(site().frontEnd);
      await startLogin(page);
      await authorize(page, person);
      await page.getByText('Ada Lovelace').or(page.getByText('eve')).first().waitFor();
      return page;
    }

    /** Opens forged links in the page. The tab must not change. */
    async function open(page: Page, links: readonly string[], settled: (page: Page) => Promise<void>): Promise<void> {
      const before = await stored(page);
      const attacker = await loggedIn('Eve');
      const token = String(await attacker.evaluate(`sessionStorage.getItem('token')`));
      const used: string[] = [];
      page.on('request', async (request) => {
        const { authorization = '' } = await request.allHeaders();
        if (authorization.includes(token)) used.push(request.url());
      });
      for (const forgery of links) {
        for (const separator of ['?', '#']) {
          const address = `/${separator}${forgery.replace('TOKEN', token)}`;
          // A change of only the fragment would not load the page again.
          if (separator === '#') await page.goto('about:blank');
          await page.goto(site().frontEnd + address);
          await settled(page);
          expect(await stored(page), forgery).to.deep.equal(before);
          expect(await page.getByText('eve', { exact: true }).count(), forgery).to.equal(0);
          expect(await page.locator('img[src=x], b').count(), forgery).to.equal(0);
          if (separator === '?') expect(page.url(), forgery).not.to.contain(token);
        }
      }
      expect(used).to.deep.equal([]);
    }

    it('does not log anybody in', async () => {
      const page = await openPage();
      await page.goto(site().frontEnd);
      await open(page, forgeries, (opened) => logInButton(opened).waitFor());
    });

    it('neither logs a person out, nor logs the person in as somebody else', async () => {
      const page = await loggedIn('Ada Lovelace');
      const person = (opened: Page) => opened.getByText('Ada Lovelace').first().waitFor();
      // One of each kind, because the page reads an address before it knows whether a person is logged in.
      await open(
        page,
        [0, 2, 6].flatMap((index) => forgeries[index] ?? []),
        person,
      );
    });

    it('does not work without the state of this tab, even while a login is in flight', async () => {
      const page = await openPage();
      await page.goto(site().frontEnd);
      await page.evaluate(`sessionStorage.setItem('state', 'of-this-tab')`);
      await page.goto(`${site().frontEnd}/?access_token=forged&state=of-another-tab`);
      await logInButton(page).waitFor();
      expect(await stored(page)).not.to.have.any.keys('token');
      expect(page.url()).to.equal(`${site().frontEnd}/`);
    });

    it('does not work with the state of a finished login', async () => {
      const page = await openPage();
      await page.goto(site().frontEnd);
      let state = '';
      page.on('request', (request) => {
        const url = new URL(request.url());
        if (url.pathname === '/auth/provider') state = url.searchParams.get('state') ?? '';
      });
      await startLogin(page);
      await authorize(page, 'Ada Lovelace');
      await page.getByText('Ada Lovelace').first().waitFor();
      const before = await stored(page);
      expect(before).to.have.all.keys('token');
      expect(state).to.match(/^[\w-]{22,}$/);
      await page.goto(`${site().frontEnd}/?access_token=forged&state=${state}`);
      await page.getByText('Ada Lovelace').first().waitFor();
      expect(await stored(page)).to.deep.equal(before);
    });
  });
}
