import { expect } from 'chai';
import type { Cookie, Page } from 'playwright-core';
import { needsChromium, useBrowser } from '../../harness/browser/chromium.ts';
import { authorize, startLogin, useLoginSite } from '../../harness/relay/login-site.ts';

const { describe } = needsChromium();

describe('a relay on https in Chromium', () => {
  const openPage = useBrowser();
  const site = useLoginSite({ https: true });
  const transactionName = /^__Host-Http-lr_login_[0-9a-f]{16}$/;

  async function openFrontEnd(): Promise<Page> {
    const page = await openPage({ ignoreHTTPSErrors: true });
    await page.goto(site().frontEnd);
    return page;
  }

  const cookiesOf = (page: Page): Promise<Cookie[]> => page.context().cookies(site().relay);

  it('stores the cookie of a login under a name that only this host can set, and sends it', async () => {
    const page = await openFrontEnd();
    await startLogin(page);
    const [cookie, ...others] = await cookiesOf(page);
    expect(others).to.deep.equal([]);
    expect(cookie).to.deep.include({
      domain: 'relay.localhost',
      path: '/',
      secure: true,
      httpOnly: true,
      sameSite: 'Lax',
    });
    expect(cookie?.name).to.match(transactionName);
    expect(cookie?.value).to.match(/^[\w-]{43}$/);

    await authorize(page, 'Ada Lovelace');
    await page.getByRole('heading', { name: 'Ada Lovelace' }).waitFor();
    const [callback] = site().callbacks;
    expect(callback?.url.protocol).to.equal('https:');
    expect(callback?.headers.cookie).to.equal(`${cookie?.name}=${cookie?.value}`);
    expect(callback?.headers['sec-fetch-site']).to.equal('cross-site');
    expect(callback?.outcome).to.equal('ok');
  });

  it('accepts no cookie of that name from a script, on https or http', async () => {
    const page = await openFrontEnd();
    const path = site().publish('');
    const plain = new URL(path, site().frontEnd);
    plain.hostname = 'relay.localhost';
    for (const url of [`${site().relay}${path}`, plain.href]) {
      await page.goto(url);
      await page.evaluate(`
        document.cookie = '__Host-Http-lr_login_0123456789abcdef=planted; Path=/; Secure';
        document.cookie = '__Host-Http-lr_login_0123456789abcdef=planted; Path=/';
        document.cookie = 'another=planted; Path=/';
      `);
    }
    const cookies = await cookiesOf(page);
    expect(cookies.map(({ name }) => name)).to.deep.equal(['another']);
  });
});
