import { expect } from 'chai';
import { needsChromium, useBrowser } from '../../harness/browser/chromium.ts';
import { documented } from '../../harness/project/shipped-pages.ts';
import { logIn } from './support/client-page.ts';
import { useClientSite } from './support/site.ts';

const { describe } = needsChromium();

describe('the browser client in session mode, in Chromium', () => {
  const openPage = useBrowser();
  const site = useClientSite('session');

  it('can be in one page with requests of its own, as docs/front-end.md shows them', async () => {
    const page = await openPage();
    await page.goto(site().frontEnd);
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
