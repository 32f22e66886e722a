import { expect } from 'chai';
import type { Page } from 'playwright-core';
import { needsChromium, useBrowser } from '../../harness/browser/chromium.ts';
import { documented } from '../../harness/project/shipped-pages.ts';
import { authorize, loggedIn, loggedOut, logIn, openPopup, shows } from './support/client-page.ts';
import { useClientSite } from './support/client-site.ts';

const { describe } = needsChromium();

describe('the browser client in session mode, in Chromium', () => {
  const openBrowser = useBrowser();
  const site = useClientSite('session');

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

  for (const path of ['/', '/list?page=2', '/#/list']) {
    it(`logs in from ${path}, comes back there, and gives the page no token`, async () => {
      const page = await openPage(path);
      await loggedOut(page);
      await logIn(page);
      expect(page.url()).to.equal(site().frontEnd + path);
      await page.reload();
      await loggedIn(page);
      const seen: unknown = await page.evaluate(
        '[Object.keys(login.session), { ...localStorage }, { ...sessionStorage }, document.cookie]',
      );
      expect(seen).to.deep.equal([['provider', 'expires_in', 'renewable'], {}, {}, '']);
    });
  }

  it('says that the person cancelled', async () => {
    const page = await openPage('/list');
    await page.getByRole('button', { name: 'Log in', exact: true }).click();
    await page.getByRole('link', { name: 'Cancel' }).click();
    await shows(page, 'access_denied');
    expect(new URL(page.url()).search).to.equal('');
  });

  it('logs in and out in all tabs', async () => {
    const page = await openPage();
    const other = await anotherTab(page);
    await loggedOut(other);
    await logIn(page);
    await loggedIn(other);
    await other.getByRole('button', { name: 'Log out' }).click();
    await loggedOut(page);
    await page.reload();
    await loggedOut(page);
  });

  it('can be in one page with requests of its own, as docs/front-end.md shows them', async () => {
    const page = await openPage();
    await logIn(page);
    const ask = documented('session.js', site().relayUrl);
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

  it('logs in in a popup', async () => {
    const page = await openPage('/coop');
    const popup = await openPopup(page);
    const closed = popup.waitForEvent('close');
    await authorize(popup);
    await closed;
    await loggedIn(page);
    await shows(page, 'popup done');
  });
});
