import { expect } from 'chai';
import type { Page } from 'playwright-core';
import { needsChromium, useBrowser } from '../../harness/browser/chromium.ts';
import { canariesIn } from '../../harness/expect/canaries.ts';
import { json } from '../../harness/provider/provider-behaviours.ts';
import { useSessionSite } from '../../harness/relay/session-site.ts';
import { loggedOut, shows } from '../front-end/support/client-page.ts';

const { describe } = needsChromium();

const loggedIn = (page: Page) => shows(page, 'Hello, Ada Lovelace');

describe('a session on https in Chromium', () => {
  const openBrowser = useBrowser();
  const site = useSessionSite();
  const sessionCookies = async (page: Page) =>
    (await page.context().cookies(site().relay)).filter(({ name }) => name.includes('session'));

  async function openPage(): Promise<Page> {
    const page = await openBrowser({ ignoreHTTPSErrors: true });
    await page.goto(site().frontEnd);
    await loggedOut(page);
    return page;
  }

  async function logIn(page: Page): Promise<void> {
    await page.getByRole('button', { name: 'Log in', exact: true }).click();
    await page.getByRole('link', { name: 'Continue' }).click();
    await loggedIn(page);
  }

  async function anotherTab(page: Page): Promise<Page> {
    const tab = await page.context().newPage();
    await tab.goto(site().frontEnd);
    await loggedIn(tab);
    return tab;
  }

  const logOut = (page: Page) => page.getByRole('button', { name: 'Log out' }).click();

  it('starts with a login, in a cookie of the relay that no script can read', async () => {
    const page = await openPage();
    await logIn(page);
    expect(page.url()).to.equal(`${site().frontEnd}/`);
    const [cookie, ...others] = await sessionCookies(page);
    expect(others).to.deep.equal([]);
    expect(cookie).to.deep.include({
      name: '__Host-Http-lr_session_app',
      domain: 'login.site.localhost',
      path: '/',
      secure: true,
      httpOnly: true,
      sameSite: 'Strict',
    });
    const known = await page.evaluate(
      'JSON.stringify([login.session, document.cookie, { ...localStorage }, { ...sessionStorage }])',
    );
    expect([...canariesIn(`${known}`)]).to.deep.equal([]);
  });

  it('is refreshed by 20 tabs at once, with one call for each refresh token', async () => {
    const page = await openPage();
    await logIn(page);
    const tabs = [page, ...(await Promise.all(Array.from({ length: 19 }, () => anotherTab(page))))];
    const inAll = async (script: string) => new Set(await Promise.all(tabs.map((tab) => tab.evaluate(script))));
    const { provider } = site();
    // A tab that refreshes a moment before the clock moves would take the move for a refusal of its new token.
    const { onUser } = provider;
    provider.onUser = json({ name: 'Ada Lovelace' });
    // Without the lock of the client.
    const refresh = `fetch('${site().relay}/auth/session/refresh?client_id=app', {
      method: 'POST', credentials: 'include', headers: { 'X-Login-Relay': '1' },
    }).then(({ status }) => status)`;
    expect([...(await inAll(refresh))]).to.deep.equal([200]);
    provider.onUser = onUser;
    // The access token lasts 8 hours.
    site().advance(9);
    const names = await inAll(`login.fetch('${site().relay}/api/user?client_id=app')
      .then((answer) => answer.json()).then(({ name }) => name)`);
    expect([...names]).to.deep.equal(['Ada Lovelace']);
    const used = provider.credentials('refresh');
    expect(used).to.have.lengthOf.at.least(2);
    expect(new Set(used).size).to.equal(used.length);
  });

  it('works while the browser blocks third-party cookies', async () => {
    const thirdParty = `fetch('${site().frontEnd}/cookie', { credentials: 'include' })
      .then((response) => response.text())`;
    const cookieFrom = async (page: Page) => {
      await page.goto(`${site().otherSite}/elsewhere`);
      await page.evaluate(thirdParty);
      return await page.evaluate(thirdParty);
    };
    const free = await openBrowser({ ignoreHTTPSErrors: true });
    expect(await cookieFrom(free)).to.equal('third=party');

    const page = await openBrowser({ ignoreHTTPSErrors: true });
    const devTools = await page.context().newCDPSession(page);
    await devTools.send('Network.enable');
    await devTools.send('Network.setCookieControls', { enableThirdPartyCookieRestriction: true });
    expect(await cookieFrom(page)).to.equal('none');
    await page.goto(site().frontEnd);
    await loggedOut(page);
    await logIn(page);
    await page.reload();
    await loggedIn(page);
    await logOut(page);
    await loggedOut(page);
  });
});
