import { expect } from 'chai';
import type { Page } from 'playwright-core';
import { needsChromium, useBrowser, wholeBrowser } from '../../harness/browser/chromium.ts';
import { documented } from '../../harness/project/shipped-pages.ts';
import {
  authorize,
  cancel,
  countLookUps,
  loggedIn,
  loggedOut,
  logIn,
  openPopup,
  shows,
} from './support/client-page.ts';
import { useClientSite, useReactSite } from './support/site.ts';

const { describe } = needsChromium();

describe('the browser client in Chromium', () => {
  const openBrowser = useBrowser();
  const site = useClientSite('tokens');
  const tokenCalls = () => site().provider.tokenRequests.length;

  async function openPage(path = '/'): Promise<Page> {
    const page = await openBrowser();
    await page.goto(site().frontEnd + path);
    return page;
  }

  async function anotherTab(page: Page): Promise<Page> {
    const tab = await page.context().newPage();
    await tab.goto(site().frontEnd);
    return tab;
  }

  it('logs in with one call, and stays logged in after a reload, in another tab, after a link, and after the back button', async () => {
    const page = await openPage();
    await loggedOut(page);
    const calls = tokenCalls();
    await logIn(page);
    expect(page.url()).to.equal(`${site().frontEnd}/`);
    const stored = '[...Object.keys(localStorage), ...Object.keys(sessionStorage)]';
    expect(await page.evaluate(stored)).to.deep.equal([]);
    await page.reload();
    await loggedIn(page);
    await loggedIn(await anotherTab(page));
    await page.getByRole('link', { name: 'Elsewhere' }).click();
    await page.goBack();
    await loggedIn(page);
    expect(await page.evaluate('login.token()')).to.be.a('string');
    expect(tokenCalls()).to.equal(calls + 1);
  });

  it('comes back to where the person had scrolled', async () => {
    const page = await openPage('/list');
    await loggedOut(page);
    await page.evaluate('scrollTo(0, 700)');
    await page.evaluate('void login.login()');
    await authorize(page);
    await loggedIn(page);
    await page.waitForFunction('scrollY === 700');
  });

  it('finishes the login if the page is loaded again before the code is redeemed', async () => {
    const page = await openPage();
    await loggedOut(page);
    await page.getByRole('button', { name: 'Log in', exact: true }).click();
    await page.route('**/client.js', (route) => route.abort());
    await authorize(page);
    await page.waitForURL(`${site().frontEnd}/?code=*`);
    await page.unroute('**/client.js');
    await page.reload();
    await loggedIn(page);
  });

  for (const path of ['/', '/coop']) {
    describe(`in a popup, from ${path}`, () => {
      it('logs in the page, and closes', async () => {
        const page = await openPage(path);
        const popup = await openPopup(page);
        const closed = popup.waitForEvent('close');
        await authorize(popup);
        await closed;
        await loggedIn(page);
        await shows(page, 'popup done');
        expect(page.url()).to.equal(site().frontEnd + path);
      });

      it('can be closed and opened again', async () => {
        const page = await openPage(path);
        const popup = await openPopup(page);
        await popup.getByPlaceholder('Enter any login').waitFor();
        // The page checks every 500 ms, and its timer ends before this timer.
        await page.evaluate('new Promise((resolve) => setTimeout(resolve, 500))');
        await popup.close();
        await page.evaluate('document.hasFocus = () => true');
        await shows(page, 'popup_closed');
        await openPopup(page).then(authorize);
        await loggedIn(page);
      });
    });
  }
});

describe('the browser client in Chromium, with pages that are kept for the back button', () => {
  const openBrowser = useBrowser(() => ({
    executablePath: wholeBrowser,
    ignoreDefaultArgs: ['--disable-back-forward-cache'],
  }));
  const site = useClientSite('tokens');

  async function loggedInPage(): Promise<Page> {
    const page = await openBrowser();
    await page.goto(site().frontEnd);
    await logIn(page);
    return page;
  }

  it('learns of a logout in another tab', async () => {
    const page = await loggedInPage();
    await page.goto(`${site().frontEnd}/elsewhere`);
    const other = await page.context().newPage();
    await other.goto(site().frontEnd);
    await loggedIn(other);
    await other.getByRole('button', { name: 'Log out' }).click();
    await loggedOut(other);
    await page.evaluate('void setTimeout(() => history.back())');
    await loggedOut(page);
  });

  it('says that the person came back from the provider, who can then log in', async () => {
    const page = await openBrowser();
    await page.goto(site().frontEnd);
    await loggedOut(page);
    await page.getByRole('button', { name: 'Log in', exact: true }).click();
    await page.getByPlaceholder('Enter any login').waitFor();
    await page.evaluate('void setTimeout(() => history.back())');
    await shows(page, 'login_left');
    await logIn(page);
  });
});

describe('the hook of client/README.md in React, under StrictMode', () => {
  const openBrowser = useBrowser();
  const site = useReactSite();

  it('shows a failed login, the name in a reload, also without the relay, and looks it up once', async () => {
    const page = await openBrowser();
    const lookUps = countLookUps(page);
    await page.goto(site().frontEnd);
    await cancel(page);
    await page.getByRole('alert').getByText(/./).waitFor();
    await loggedOut(page);
    await logIn(page);
    expect(lookUps()).to.equal(1);
    await page.reload();
    await loggedIn(page);
    expect(await page.evaluate('shown')).not.to.include('Nobody');
    await page.waitForLoadState('networkidle');
    expect(lookUps()).to.equal(2);
    await page.route(`${site().relayUrl}/**`, (route) => route.abort());
    await page.reload();
    await loggedIn(page);
  });
});

describe('the browser client in session mode, in Chromium', () => {
  const openPage = useBrowser();
  const site = useClientSite('session');

  it("can be used together with the page's own requests, as docs/http-api.md shows them", async () => {
    const page = await openPage();
    await page.goto(site().frontEnd);
    await logIn(page);
    const ask = documented('session.js', site().relayUrl, 'http-api');
    const asked = (path: string, method: string) =>
      page.evaluate(`(() => { ${ask}; return ask('${path}', '${method}')
        .then(async (answer) => ({ status: answer.status, ...(await answer.json()) })); })()`);
    const described = await asked('/auth/session', 'GET');
    expect(described).to.include({ status: 200, provider: 'provider', renewable: true });
    expect(await asked('/auth/session/refresh', 'POST')).to.have.property('status', 200);
    expect(await asked('/api/user', 'GET')).to.include({ status: 200, sub: 'ada' });
    expect(await asked('/auth/logout', 'POST')).to.have.property('status', 200);
    const missing = await asked('/auth/session', 'GET');
    expect(missing).to.include({ status: 401, error: 'session_missing' });
  });
});
