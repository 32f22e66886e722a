import { expect } from 'chai';
import type { Page } from 'playwright-core';
import { needsChromium, useBrowser } from '../../harness/browser/chromium.ts';
import { authorize, type Exchange, startLogin, useLoginSite } from '../../harness/relay/login-site.ts';

/** Makes a page that lets a browser open an address of another site. */
type Vector = (url: URL) => string;

/** The attacker's own browser, and the callback that it has not opened. */
interface Attack {
  readonly attacker: Page;
  readonly callback: URL;
}

// None of them sends a referrer if the page can prevent it.
const navigations: Readonly<Record<string, Vector>> = {
  'a link': ({ href }) => `<a id="bait" rel="noreferrer" href="${href}">A kitten</a>`,
  'a form with GET': (url) => `<form action="${url}">${inputs(url)}<button id="bait">A kitten</button></form>`,
  'a form with POST': ({ href }) => `<form method="post" action="${href}"><button id="bait">A kitten</button></form>`,
  'a window that it opens': ({ href }) => `<button id="bait" onclick="window.open('${href}')">A kitten</button>`,
  'a window without an opener': ({ href }) =>
    `<button id="bait" onclick="window.open('${href}', '', 'noopener,noreferrer')">A kitten</button>`,
  'a script that navigates': ({ href }) => `<button id="bait" onclick="location.replace('${href}')">A kitten</button>`,
};

const subresources: Readonly<Record<string, Vector>> = {
  image: ({ href }) => `<img src="${href}">`,
  script: ({ href }) => `<script src="${href}"></script>`,
  style: ({ href }) => `<link rel="stylesheet" href="${href}">`,
  video: ({ href }) => `<video src="${href}"></video>`,
  'frame without a referrer': ({ href }) => `<iframe referrerpolicy="no-referrer" src="${href}"></iframe>`,
  'sandboxed frame': ({ href }) => `<iframe sandbox="allow-scripts" src="${href}"></iframe>`,
  object: ({ href }) => `<object data="${href}"></object>`,
  embed: ({ href }) => `<embed src="${href}">`,
  'fetch without CORS': ({ href }) =>
    script(`fetch('${href}', { mode: 'no-cors', credentials: 'include' }).catch(() => {})`),
  'fetch with CORS': ({ href }) => script(`fetch('${href}', { credentials: 'include' }).catch(() => {})`),
  'fetch without a referrer or credentials': ({ href }) =>
    script(`fetch('${href}', { mode: 'no-cors', credentials: 'omit', referrer: '',
      headers: { Accept: 'application/json' } }).catch(() => {})`),
  'event source': ({ href }) => script(`new EventSource('${href}', { withCredentials: true })`),
  'web socket': ({ href }) => script(`new WebSocket('${href.replace('http', 'ws')}')`),
  beacon: ({ href }) => script(`navigator.sendBeacon('${href}')`),
};

/** The outcome in the relay's log if the state is missing, and if it is foreign. */
function outcomesOf(vector: string): readonly [string, string] {
  if (/POST|beacon/.test(vector)) return ['method_not_allowed', 'method_not_allowed'];
  if (/frame|object|embed/.test(vector)) return ['callback_framed', 'callback_framed'];
  return ['state_missing', 'state_unknown'];
}

function script(source: string): string {
  return `<script>${source}</script>`;
}

function inputs({ searchParams }: URL): string {
  return [...searchParams].map(([name, value]) => `<input type="hidden" name="${name}" value="${value}">`).join('');
}

const { describe } = needsChromium();

describe('login forgery in Chromium', () => {
  const openPage = useBrowser();
  const site = useLoginSite();

  /** A page on its way to the provider, during a login. */
  async function loginInFlight(page: Page): Promise<Page> {
    await page.goto(site().frontEnd);
    await startLogin(page);
    return page;
  }

  async function attackersCallback(): Promise<Attack> {
    const attacker = await loginInFlight(await openPage());
    const callback = site().interceptCallback();
    await authorize(attacker, 'Mallory');
    return { attacker, callback: new URL(await callback) };
  }

  async function expectLoggedOut(page: Page): Promise<void> {
    await page.goto(site().frontEnd);
    await page.getByText('Log in', { exact: true }).waitFor();
    expect(await page.evaluate(`sessionStorage.getItem('token')`)).to.equal(null);
  }

  /** Checks that nobody is logged in, that the victim's own login still works, and that the code is unspent. */
  async function expectHarmless(victim: Page, pending: Page, { attacker, callback }: Attack) {
    await expectLoggedOut(victim);
    expect(site().tokenCalls).to.equal(0);
    await pending.bringToFront();
    await authorize(pending, 'Ada Lovelace');
    await pending.getByRole('heading', { name: 'Ada Lovelace' }).waitFor();
    await attacker.goto(callback.href);
    await attacker.getByRole('heading', { name: 'Mallory' }).waitFor();
  }

  /** Each vector with the attacker's code alone, and with the attacker's own state. `via` distinguishes them. */
  function attacksBy(vectors: Readonly<Record<string, Vector>>, callback: URL) {
    return Object.entries(vectors).flatMap(([name, pageFor]) => {
      const withState = new URL(callback);
      withState.searchParams.set('via', `${name}, with a state`);
      const bare = new URL(callback.origin + callback.pathname);
      bare.searchParams.set('code', callback.searchParams.get('code') ?? '');
      bare.searchParams.set('via', name);
      const [missing, foreign] = outcomesOf(name);
      return [
        { name, url: bare, html: pageFor(bare), expected: missing },
        { name, url: withState, html: pageFor(withState), expected: foreign },
      ];
    });
  }

  const arrived = (url: URL): Promise<Exchange> =>
    site().exchange((exchange) => exchange.url.searchParams.get('via') === url.searchParams.get('via'));

  it('by sending the victim there neither spends the code nor logs the victim in', async () => {
    const own = await attackersCallback();
    const pending = await loginInFlight(await openPage());
    const victim = await pending.context().newPage();
    for (const { name, url, html, expected } of attacksBy(navigations, own.callback)) {
      await victim.goto(site().attacker + site().publish(html));
      await victim.locator('#bait').click();
      const { outcome, location, headers } = await arrived(url);
      const { 'sec-fetch-site': from, 'sec-fetch-mode': mode } = headers;
      expect({ outcome, location, from, mode }, name).to.deep.equal({
        outcome: expected,
        location: undefined,
        from: 'cross-site',
        mode: 'navigate',
      });
    }
    await expectHarmless(victim, pending, own);
  });

  it('by loading it into a page neither spends the code nor logs the victim in', async () => {
    const own = await attackersCallback();
    const pending = await loginInFlight(await openPage());
    const victim = await pending.context().newPage();
    const attacks = attacksBy(subresources, own.callback);
    const all = attacks.map(({ html }) => html).join('\n');
    const page = site().publish(`<meta name="referrer" content="no-referrer">${all}`);
    await victim.goto(site().attacker + page);
    for (const { name, url, expected } of attacks) {
      const { outcome, location, headers } = await arrived(url);
      const { cookie } = headers;
      const harmless = { outcome: expected, location: undefined, cookie: undefined };
      expect({ outcome, location, cookie }, name).to.deep.equal(harmless);
    }
    await expectHarmless(victim, pending, own);
  });

  it('by having the victim authorize a login that the attacker started is refused', async () => {
    await loginInFlight(await openPage());
    const [started] = site().exchanges;
    const victim = await loginInFlight(await openPage());
    await victim.goto(started?.location ?? '');
    await authorize(victim, 'Ada Lovelace');
    await victim.waitForURL(`${site().callbackUrl}?**`);
    expect(site().callbacks.map(({ outcome }) => outcome)).to.deep.equal(['state_unknown']);
    expect(await victim.locator('body').textContent()).to.contain('did not start this login');
    await expectLoggedOut(victim);
    expect(site().tokenCalls).to.equal(0);
  });

  it('with images that start logins does not end a login in flight', async () => {
    const pending = await loginInFlight(await openPage());
    const attack = await pending.context().newPage();
    const images = Array.from({ length: 25 }, (_, index) => `<img src="${site().startUrl}?state=${index}">`);
    await attack.goto(site().attacker + site().publish(images.join('')));
    const starts = site().exchanges.filter(({ url }) => url.search !== '');
    expect(starts.filter(({ headers }) => headers['sec-fetch-dest'] === 'image')).to.have.length(25);
    const cookies = await attack.context().cookies(site().relay);
    expect(cookies).to.have.length(1);
    await authorize(pending, 'Ada Lovelace');
    await pending.getByRole('heading', { name: 'Ada Lovelace' }).waitFor();
  });
});
