import { expect } from 'chai';
import type { Page } from 'playwright-core';
import {
  needsChromium,
  refuseOnce,
  screenshot,
  useBrowser,
} from '../../harness/browser/chromium.ts';
import { libraryExample } from '../../harness/project/shipped-pages.ts';
import { sendFrom, useSite } from '../front-end/support/site.ts';

const { describe } = needsChromium();
const pages = (relayUrl: string) => sendFrom(libraryExample(relayUrl));

const greeting = (page: Page, text: string) => page.getByText(text, { exact: true }).waitFor();
const loggedOut = (page: Page) => greeting(page, 'You are not logged in.');
const loggedIn = (page: Page, login = 'ada') => greeting(page, `Hello, The person ${login}`);

async function logIn(page: Page, login = 'ada'): Promise<void> {
  await page.getByRole('button', { name: 'Log in' }).click();
  await page.getByPlaceholder('Enter any login').fill(login);
  await page.getByPlaceholder('and password').fill('any');
  await page.getByRole('button', { name: 'Sign-in' }).click();
  await page.getByRole('button', { name: 'Continue' }).click();
  await loggedIn(page, login);
}

describe('the example oauth4webapi in Chromium', () => {
  const openBrowser = useBrowser();
  const site = useSite({ https: true, pages });

  const tokenCalls = () => site().provider.tokenRequests.length;

  /** The page, without a login. It must not report an error until the end of the test. */
  let complaints: string[];
  beforeEach(() => {
    complaints = [];
  });
  afterEach('the page has not complained', () => {
    expect(complaints).to.deep.equal([]);
  });

  function watch(page: Page): Page {
    page.on('pageerror', ({ message }) => complaints.push(message));
    return page;
  }

  async function openPage(): Promise<Page> {
    const page = watch(await openBrowser({ ignoreHTTPSErrors: true }));
    await page.goto(site().frontEnd);
    await loggedOut(page);
    return page;
  }

  async function anotherTab(page: Page): Promise<Page> {
    const tab = watch(await page.context().newPage());
    await tab.goto(site().frontEnd);
    return tab;
  }

  /** The next answer of an endpoint of the relay to the page itself: a preflight is an OPTIONS request. */
  const answered = (page: Page, endpoint: string) =>
    page.waitForResponse(
      (response) =>
        response.url() === `${site().relayUrl}/auth/provider/${endpoint}` &&
        response.request().method() === 'POST',
    );

  /** What the page does when another tab has a new token. */
  const lookUpAgain = `dispatchEvent(new Event('login'))`;

  it('stays logged in over a reload, and keeps no token in web storage', async () => {
    const page = await openPage();
    await logIn(page);
    expect(page.url()).to.equal(`${site().frontEnd}/`);
    await screenshot(page, 'library-example');
    for (let reload = 0; reload < 3; reload += 1) {
      await page.reload();
      await loggedIn(page);
    }
    const stored = await page.evaluate(
      '[...Object.keys(localStorage), ...Object.keys(sessionStorage)]',
    );
    expect(stored).to.deep.equal([]);
  });

  it('refreshes a token that has ended', async () => {
    const page = await openPage();
    await logIn(page);
    const calls = tokenCalls();
    await refuseOnce(page, '**/api/user');
    const refreshed = answered(page, 'token');
    const lookedUp = page.waitForResponse(
      (response) => response.url().endsWith('/api/user') && response.status() === 200,
    );
    await page.evaluate(lookUpAgain);
    expect((await refreshed).status()).to.equal(200);
    await lookedUp;
    expect(tokenCalls()).to.equal(calls + 1);
  });

  it('ends the login after a second 401', async () => {
    const page = await openPage();
    await logIn(page);
    await page.route('**/api/user', (route) => route.fulfill({ status: 401, json: {} }));
    await page.evaluate(lookUpAgain);
    await loggedOut(page);
    await page.unroute('**/api/user');
    await page.reload();
    await loggedOut(page);
  });

  it('logs out: a copy of the tokens is worth nothing', async () => {
    const page = await openPage();
    await logIn(page);
    const copy = await page.evaluate(
      `import('/storage.js').then(({ load }) => load('refresh token'))`,
    );
    const revoked = answered(page, 'revoke');
    await page.getByRole('button', { name: 'Log out' }).click();
    expect((await revoked).status()).to.equal(200);
    await loggedOut(page);
    await page.evaluate(
      `import('/storage.js').then(({ save }) => save('refresh token', '${copy}'))`,
    );
    const refused = answered(page, 'token');
    await page.reload();
    expect((await refused).status()).to.equal(400);
    await loggedOut(page);
  });

  it('logs in and out in all tabs together', async () => {
    const page = await openPage();
    const other = await anotherTab(page);
    await loggedOut(other);
    await logIn(page);
    await loggedIn(other);
    await other.getByRole('button', { name: 'Log out' }).click();
    await loggedOut(other);
    await loggedOut(page);
  });

  it('ignores forged links, logged in or not', async () => {
    const page = await openPage();
    const issuer = encodeURIComponent(`${site().relayUrl}/auth/provider`);
    const links = [
      `?code=forged&state=forged&iss=${issuer}`,
      `?code=forged&iss=${issuer}`,
      `?error=access_denied&state=forged&iss=${issuer}`,
      '?access_token=forged&state=forged',
    ];
    const calls = tokenCalls();
    for (const link of links) {
      await page.goto(`${site().frontEnd}/${link}`);
      await loggedOut(page);
    }
    expect(tokenCalls()).to.equal(calls);
    await logIn(page);
    for (const link of links) {
      await page.goto(`${site().frontEnd}/${link}`);
      await loggedIn(page);
    }
  });

  it('stores a key that scripts cannot read out', async () => {
    const page = await openPage();
    const read = `import('/storage.js').then(({ load }) => load('key'))
      .then(({ privateKey }) => crypto.subtle.exportKey('jwk', privateKey))
      .then(() => 'read', ({ name }) => name)`;
    expect(await page.evaluate(read)).to.equal('InvalidAccessError');
  });
});
