import { expect } from 'chai';
import type { Page } from 'playwright-core';
import { needsChromium, useBrowser } from '../../harness/browser/chromium.ts';
import { documented } from '../../harness/project/shipped-pages.ts';
import { loggedIn, loggedOut, logIn } from './support/client-page.ts';
import { useClientSite } from './support/site.ts';

const { describe } = needsChromium();

describe('the browser client in session mode, in Chromium', () => {
  const openBrowser = useBrowser();
  const site = useClientSite('session');

  async function openPage(path = '/'): Promise<Page> {
    const page = await openBrowser();
    await page.goto(site().frontEnd + path);
    return page;
  }

  it('logs in from any page, comes back there, and gives the page no token', async () => {
    const page = await openPage('/list?page=2#top');
    await loggedOut(page);
    await logIn(page);
    expect(page.url()).to.equal(`${site().frontEnd}/list?page=2#top`);
    await page.reload();
    await loggedIn(page);
    const seen: unknown = await page.evaluate(
      '[Object.keys(login.session), { ...localStorage }, { ...sessionStorage }, document.cookie]',
    );
    expect(seen).to.deep.equal([['provider', 'expires_in', 'renewable'], {}, {}, '']);
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
});
