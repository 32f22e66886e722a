import { expect } from 'chai';
import type { BrowserContextOptions, Page } from 'playwright-core';
import { clientsRelay, jsonOf } from '../../clients/support/clients-relay.ts';
import {
  expectReadable,
  looks,
  needsChromium,
  screenshot,
  useBrowser,
} from '../../harness/browser/chromium.ts';
import { granted } from '../../harness/browser/fake-browser.ts';
import { oauthStart } from '../../harness/login/oauth-front-end.ts';
import { html, redirect } from '../../harness/provider/provider-behaviours.ts';

const { describe } = needsChromium();

describe('the consent page in Chromium', () => {
  const openPage = useBrowser();
  const relay = clientsRelay(() => ({
    here: true,
    provider: 'scope: read:user user:email',
    frontEnds: '  tools: { kind: native, clients: { registration: true } }',
  }));
  /** Where the program listens: at the address of the provider, which is on this machine, too. */
  const redirectUri = () => new URL('/program', relay().provider.origin).href;

  before('the provider agrees, and the program answers', () => {
    const { provider } = relay();
    const { pathname } = new URL(provider.authorizeUrl);
    provider.pages = {
      [pathname]: (response, { url }) => redirect(granted(provider, url))(response),
      '/program': html(200, '<h1>You can close this page</h1>'),
    };
  });

  async function asked(options?: BrowserContextOptions): Promise<Page> {
    const metadata = { redirect_uris: [redirectUri()], client_name: 'Code review from the shell' };
    const { client_id } = jsonOf(await relay().post('register', JSON.stringify(metadata)));
    const { parameters } = oauthStart({ client_id: `${client_id}`, redirect_uri: redirectUri() });
    const query = new URLSearchParams(Object.entries(parameters).map(([n, v]) => [n, `${v}`]));
    const page = await openPage(options);
    await page.goto(`${relay().address}/auth/provider?${query}`);
    return page;
  }

  it('works without scripts and with only the keyboard', async () => {
    const page = await asked({ javaScriptEnabled: false });
    const focused = () => page.locator(':focus-visible').innerText();
    await page.keyboard.press('Tab');
    expect(await focused()).to.equal('Continue');
    await page.keyboard.press('Tab');
    expect(await focused()).to.equal('Cancel');
    await screenshot(page, 'consent-keyboard');
    await page.keyboard.press('Shift+Tab');
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'You can close this page' }).waitFor();
    const back = new URL(page.url());
    expect(back.origin + back.pathname).to.equal(redirectUri());
    expect(back.searchParams.get('code')).to.match(/^lr1_/);
  });

  it('goes back to the program with access_denied after Cancel, and asks again', async () => {
    const page = await asked();
    const question = page.url();
    await page.getByRole('button', { name: 'Cancel' }).click();
    await page.getByRole('heading', { name: 'You can close this page' }).waitFor();
    expect(new URL(page.url()).searchParams.get('error')).to.equal('access_denied');
    await page.goto(question);
    expect(await page.getByRole('button').allInnerTexts()).to.deep.equal(['Continue', 'Cancel']);
  });

  it('is readable in light and dark colours, 320 and 1280 pixels wide', async () => {
    for (const look of looks) {
      await expectReadable(await asked(look), `consent-${look.colorScheme}`);
    }
  });
});
