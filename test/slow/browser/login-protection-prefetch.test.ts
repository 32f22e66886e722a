import { expect } from 'chai';
import type { Page } from 'playwright-core';
import { needsChromium, useBrowser } from '../../harness/browser/chromium.ts';
import { authorize, startLogin, useLoginSite } from '../../harness/relay/login-site.ts';

const { describe } = needsChromium();

describe('a prefetch of Chromium', () => {
  const openPage = useBrowser();
  const site = useLoginSite();

  /** A page at the provider, and the callback that would finish its login. */
  async function nearlyFinished(): Promise<{ page: Page; callback: string }> {
    const page = await openPage();
    await page.goto(site().frontEnd);
    await startLogin(page);
    const callback = site().interceptCallback();
    await authorize(page, 'Ada Lovelace');
    return { page, callback: await callback };
  }

  const startAhead = () => `${site().startUrl}?ahead`;

  const links = (urls: string[]) => urls.map((url) => `<link rel="prefetch" href="${url}">`).join('');
  const rules = (action: 'prefetch' | 'prerender') => (urls: string[]) =>
    `<script type="speculationrules">${JSON.stringify({
      [action]: [{ urls, eagerness: 'immediate' }],
    })}</script>`;

  async function expectRefused(url: string, purpose: string): Promise<void> {
    const exchange = await site().exchange((seen) => seen.url.href === url);
    const { status, outcome, location, setCookies } = exchange;
    expect({ status, outcome, location, setCookies }).to.deep.equal({
      status: 503,
      outcome: 'prefetch_refused',
      location: undefined,
      setCookies: [],
    });
    expect(exchange.headers['sec-purpose']).to.equal(purpose);
  }

  // A page on the relay's own host can prefetch more than a page on another site.
  for (const { what, markup, where, purpose } of [
    { what: 'a prefetching link', markup: links, where: 'frontEnd', purpose: 'prefetch' },
    { what: 'a prefetching link', markup: links, where: 'relay', purpose: 'prefetch' },
    { what: 'a prefetch rule', markup: rules('prefetch'), where: 'relay', purpose: 'prefetch' },
    {
      what: 'a prerender rule',
      markup: rules('prerender'),
      where: 'relay',
      purpose: 'prefetch;prerender',
    },
  ] as const) {
    const place = where === 'relay' ? 'the relay’s host' : 'the front end';
    it(`of ${what} on ${place} neither starts nor finishes a login, and a click works`, async () => {
      const { page, callback } = await nearlyFinished();
      const finishAhead = `${callback}&ahead`;
      const html = markup([startAhead(), finishAhead]);
      const tab = await page.context().newPage();
      await tab.goto(site()[where] + site().publish(`${html}<a href="${startAhead()}">Log in</a>`));
      await expectRefused(startAhead(), purpose);
      await expectRefused(finishAhead, purpose);
      expect(site().tokenCalls).to.equal(0);

      await startLogin(tab);
      await page.goto(finishAhead);
      await page.getByRole('heading', { name: 'Ada Lovelace' }).waitFor();
      expect(site().tokenCalls).to.equal(1);
    });
  }

  it('of a rule of a front end starts no login, and a click works', async () => {
    // Chromium prefetches from another site only if it has no cookie for it.
    const page = await openPage();
    const html = rules('prefetch')([startAhead()]);
    await page.goto(site().frontEnd + site().publish(`${html}<a href="${startAhead()}">Log in</a>`));
    await expectRefused(startAhead(), 'prefetch');
    expect(await page.context().cookies()).to.deep.equal([]);
    await startLogin(page);
    await authorize(page, 'Ada Lovelace');
    await page.waitForURL(`${site().frontEnd}/**`);
    expect(site().callbacks.map(({ outcome }) => outcome)).to.deep.equal(['ok']);
  });
});
