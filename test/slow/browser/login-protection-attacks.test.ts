import { expect } from 'chai';
import type { Page } from 'playwright-core';
import { needsChromium, useBrowser } from '../../harness/browser/chromium.ts';
import {
  authorize,
  type Exchange,
  startLogin,
  useLoginSite,
} from '../../harness/relay/login-site.ts';

/** A way in which a page can make a browser open an address of another site. */
interface Vector {
  readonly page: (url: URL) => string;
  /** The outcome in the relay's log if the state is missing, and if it is foreign. */
  readonly outcomes: readonly [string, string];
}

/** The attacker's own browser, and the callback that it has not opened. */
interface Attack {
  readonly attacker: Page;
  readonly callback: URL;
}

const refused = ['state_missing', 'state_unknown'] as const;
const framed = ['callback_framed', 'callback_framed'] as const;

// None of them sends a referrer if the page can prevent it.
const navigations: Readonly<Record<string, Vector>> = {
  'a link': {
    page: ({ href }) => `<a id="bait" rel="noreferrer" href="${href}">A kitten</a>`,
    outcomes: refused,
  },
  'a form with GET': {
    page: (url) => `<form action="${url}">${inputs(url)}<button id="bait">A kitten</button></form>`,
    outcomes: refused,
  },
  'a form with POST': {
    page: ({ href }) =>
      `<form method="post" action="${href}"><button id="bait">A kitten</button></form>`,
    outcomes: ['method_not_allowed', 'method_not_allowed'],
  },
  'a window that it opens': {
    page: ({ href }) => `<button id="bait" onclick="window.open('${href}')">A kitten</button>`,
    outcomes: refused,
  },
  'a window without an opener': {
    page: ({ href }) =>
      `<button id="bait" onclick="window.open('${href}', '', 'noopener,noreferrer')">A kitten</button>`,
    outcomes: refused,
  },
  'a script that navigates': {
    page: ({ href }) => `<button id="bait" onclick="location.replace('${href}')">A kitten</button>`,
    outcomes: refused,
  },
};

const subresources: Readonly<Record<string, Vector>> = {
  image: { page: ({ href }) => `<img src="${href}">`, outcomes: refused },
  script: { page: ({ href }) => `<script src="${href}"></script>`, outcomes: refused },
  style: { page: ({ href }) => `<link rel="stylesheet" href="${href}">`, outcomes: refused },
  video: { page: ({ href }) => `<video src="${href}"></video>`, outcomes: refused },
  'frame without a referrer': {
    page: ({ href }) => `<iframe referrerpolicy="no-referrer" src="${href}"></iframe>`,
    outcomes: framed,
  },
  'sandboxed frame': {
    page: ({ href }) => `<iframe sandbox="allow-scripts" src="${href}"></iframe>`,
    outcomes: framed,
  },
  object: { page: ({ href }) => `<object data="${href}"></object>`, outcomes: framed },
  embed: { page: ({ href }) => `<embed src="${href}">`, outcomes: framed },
  'fetch without CORS': {
    page: ({ href }) =>
      script(`fetch('${href}', { mode: 'no-cors', credentials: 'include' }).catch(() => {})`),
    outcomes: refused,
  },
  'fetch with CORS': {
    page: ({ href }) => script(`fetch('${href}', { credentials: 'include' }).catch(() => {})`),
    outcomes: refused,
  },
  'fetch without a referrer or credentials': {
    page: ({ href }) =>
      script(`fetch('${href}', { mode: 'no-cors', credentials: 'omit', referrer: '',
        headers: { Accept: 'application/json' } }).catch(() => {})`),
    outcomes: refused,
  },
  'event source': {
    page: ({ href }) => script(`new EventSource('${href}', { withCredentials: true })`),
    outcomes: refused,
  },
  'web socket': {
    page: ({ href }) => script(`new WebSocket('${href.replace('http', 'ws')}')`),
    outcomes: refused,
  },
  beacon: {
    page: ({ href }) => script(`navigator.sendBeacon('${href}')`),
    outcomes: ['method_not_allowed', 'method_not_allowed'],
  },
};

function script(source: string): string {
  return `<script>${source}</script>`;
}

function inputs({ searchParams }: URL): string {
  return [...searchParams]
    .map(([name, value]) => `<input type="hidden" name="${name}" value="${value}">`)
    .join('');
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

  /** The attacker's code alone, and with the attacker's own state. `via` distinguishes them. */
  function attackUrls(callback: URL, via: string): [URL, URL] {
    const withState = new URL(callback);
    withState.searchParams.set('via', `${via}, with a state`);
    const bare = new URL(callback.origin + callback.pathname);
    bare.searchParams.set('code', callback.searchParams.get('code') ?? '');
    bare.searchParams.set('via', via);
    return [bare, withState];
  }

  const arrived = (url: URL): Promise<Exchange> =>
    site().exchange(
      (exchange) => exchange.url.searchParams.get('via') === url.searchParams.get('via'),
    );

  it('by sending the victim there neither spends the code nor logs the victim in', async () => {
    const own = await attackersCallback();
    const pending = await loginInFlight(await openPage());
    const victim = await pending.context().newPage();
    for (const [name, { page: pageFor, outcomes }] of Object.entries(navigations)) {
      for (const [index, url] of attackUrls(own.callback, name).entries()) {
        await victim.goto(site().attacker + site().publish(pageFor(url)));
        await victim.locator('#bait').click();
        const { outcome, location, headers } = await arrived(url);
        const { 'sec-fetch-site': from, 'sec-fetch-mode': mode } = headers;
        expect({ name, outcome, location, from, mode }).to.deep.equal({
          name,
          outcome: outcomes[index],
          location: undefined,
          from: 'cross-site',
          mode: 'navigate',
        });
      }
    }
    await expectHarmless(victim, pending, own);
  });

  it('by loading it into a page neither spends the code nor logs the victim in', async () => {
    const own = await attackersCallback();
    const pending = await loginInFlight(await openPage());
    const victim = await pending.context().newPage();
    const attacks = Object.entries(subresources).flatMap(([name, { page: pageFor, outcomes }]) =>
      attackUrls(own.callback, name).map((url, index) => ({
        url,
        html: pageFor(url),
        expected: { name, outcome: outcomes[index], location: undefined, cookie: undefined },
      })),
    );
    const html = attacks.map((attack) => attack.html).join('\n');
    await victim.goto(
      site().attacker + site().publish(`<meta name="referrer" content="no-referrer">${html}`),
    );
    for (const { url, expected } of attacks) {
      const { outcome, location, headers } = await arrived(url);
      const { name } = expected;
      expect({ name, outcome, location, cookie: headers.cookie }).to.deep.equal(expected);
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
    const images = Array.from(
      { length: 25 },
      (_, index) => `<img src="${site().startUrl}?state=${index}">`,
    );
    await attack.goto(site().attacker + site().publish(images.join('')));
    const starts = site().exchanges.filter(({ url }) => url.search !== '');
    expect(starts.filter(({ headers }) => headers['sec-fetch-dest'] === 'image')).to.have.length(
      25,
    );
    const cookies = await attack.context().cookies(site().relay);
    expect(cookies).to.have.length(1);
    await authorize(pending, 'Ada Lovelace');
    await pending.getByRole('heading', { name: 'Ada Lovelace' }).waitFor();
  });
});
