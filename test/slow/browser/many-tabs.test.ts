import { randomBytes } from 'node:crypto';
import { expect } from 'chai';
import type { Page } from 'playwright-core';
import { needsChromium, useBrowser } from '../../harness/browser/chromium.ts';
import { authorize, useLoginSite } from '../../harness/relay/login-site.ts';

const { describe } = needsChromium();

describe('twenty tabs in Chromium that log in at once with a state of 2,048 characters', () => {
  const openPage = useBrowser();
  const site = useLoginSite({
    https: true,
    frontEnd: () => '<!doctype html><title>The front end</title>',
    flags: { errorDelivery: 'redirect' },
  });

  /** Opens the start of a login, up to the provider's page. */
  async function start(page: Page, state: string): Promise<void> {
    await page.goto(`${site().startUrl}?${new URLSearchParams({ state })}`);
    const sent = new URL(page.url()).searchParams.get('state') ?? '';
    expect(sent.length).to.be.within(100, 399);
  }

  /** The login cookies that Chromium sends to the relay, in characters of the `Cookie` header. */
  async function sizeOfCookies(page: Page): Promise<number> {
    const cookies = await page.context().cookies(site().relay);
    return cookies.map(({ name, value }) => `${name}=${value}`).join('; ').length;
  }

  /** Logs in at the provider's page. Returns what the front end gets. */
  async function finish(page: Page): Promise<URLSearchParams> {
    const state = new URL(page.url()).searchParams.get('state');
    await authorize(page, 'Ada Lovelace');
    await page.waitForURL(({ origin }) => origin === site().frontEnd);
    const isItsCallback = (url: URL) => url.pathname.endsWith('/callback') && url.searchParams.get('state') === state;
    const { location = '' } = await site().exchange(({ url }) => isItsCallback(url));
    expect(new URL(location).origin).to.equal(site().frontEnd);
    return new URL(location).searchParams;
  }

  it('keep less than 8 KB of cookies, and the newest login ends with its state', async () => {
    const first = await openPage({ ignoreHTTPSErrors: true });
    const others = Array.from({ length: 19 }, () => first.context().newPage());
    const tabs = await Promise.all([first, ...(await Promise.all(others))]);
    const states = tabs.map(() => randomBytes(1536).toString('base64url'));
    // The provider of the demo takes a form only from the browser that it knows by its cookie, and knows it after this.
    await start(first, states[0] ?? '');
    await Promise.all(tabs.slice(1).map((tab, index) => start(tab, states[index + 1] ?? '')));
    expect(await sizeOfCookies(first)).to.be.within(3000, 8191);

    // The newest login is the login whose parts the browser kept.
    const cookies = await first.context().cookies(site().relay);
    const newest = cookies.find(({ name }) => name.includes('_part_'))?.value.slice(0, 16) ?? '';
    const starts = site().exchanges.filter(({ url }) => url.pathname === '/auth/provider');
    expect(starts).to.have.lengthOf(20);
    const own = starts.find(({ setCookies }) => setCookies.some((cookie) => cookie.includes(`lr_login_${newest}=`)));
    const ownState = own?.url.searchParams.get('state') ?? '';
    const index = states.indexOf(ownState);
    const ended = await finish(tabs[index] ?? first);
    expect(ended.get('state')).to.equal(ownState);
    expect(ended.has('access_token')).to.equal(true);

    // The others have lost what they were started with. They say so, and their next start ends.
    const [loser = first] = tabs.filter((_, at) => at !== index);
    expect((await finish(loser)).get('error')).to.equal('state_unknown');
    const again = randomBytes(1536).toString('base64url');
    await start(loser, again);
    expect(await sizeOfCookies(first)).to.be.below(8192);
    const last = await finish(loser);
    expect(last.get('state')).to.equal(again);
    expect(last.has('access_token')).to.equal(true);
    expect(site().tokenCalls).to.equal(2);
  });
});
