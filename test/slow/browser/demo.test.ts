import { expect } from 'chai';
import type { BrowserContextOptions, Page, Route } from 'playwright-core';
import {
  lowContrastTexts,
  needsChromium,
  screenshot,
  scrollsSideways,
  useBrowser,
} from '../../harness/browser/chromium.ts';
import { useDemo } from './support/demo.ts';

const { describe } = needsChromium();

describe('the demo’s page with the token in the address, in Chromium', () => {
  const openPage = useBrowser();
  const demo = useDemo();
  let frontEnd: string;
  let contract: string;
  let provider: string;

  before(() => {
    ({ frontEnd, provider } = demo());
    contract = `${frontEnd}/contract`;
  });

  async function openFrontEnd(options?: BrowserContextOptions, path = ''): Promise<Page> {
    const page = await openPage(options);
    await page.goto(contract + path);
    return page;
  }

  async function logIn(page: Page, name: string): Promise<void> {
    await page.getByRole('button', { name: 'Log in' }).click();
    await page.getByLabel('Your name').fill(name);
    await page.getByRole('button', { name: 'Log in' }).click();
    await card(page).waitFor();
  }

  const card = (page: Page) => page.getByRole('button', { name: 'Log out' });
  const stored = (page: Page) => page.evaluate('({ ...sessionStorage })');
  const pictureWidth = (page: Page) =>
    page.evaluate(`document.querySelector('#picture').decode().then(
      () => document.querySelector('#picture').naturalWidth)`);

  it('logs a person in, shows their name, and logs them out', async () => {
    const page = await openFrontEnd();
    const complaints: string[] = [];
    page.on('console', (message) => complaints.push(message.text()));
    page.on('pageerror', (error) => complaints.push(error.message));
    await screenshot(page, '1-logged-out');

    await page.getByRole('button', { name: 'Log in' }).click();
    await page.getByLabel('Your name').waitFor();
    expect(page.url()).to.match(new RegExp(`^${provider}/login/`));
    await screenshot(page, '2-provider');

    await page.getByLabel('Your name').fill('Ada Lovelace');
    await page.getByRole('button', { name: 'Log in' }).click();
    await page.getByRole('heading', { name: 'Ada Lovelace' }).waitFor();
    expect(await page.getByText('ada-lovelace', { exact: true }).isVisible()).to.equal(true);
    expect(await pictureWidth(page)).to.equal(96);
    expect(page.url()).to.equal(contract);
    expect(await stored(page)).to.have.all.keys('token');
    await screenshot(page, '3-logged-in');

    const profile = page.getByRole('link', { name: 'View profile' });
    expect(await profile.getAttribute('href')).to.equal(`${provider}/`);

    await card(page).click();
    await page.getByRole('button', { name: 'Log in' }).waitFor();
    expect(await page.getByText('Ada Lovelace').isVisible()).to.equal(false);
    expect(await stored(page)).to.deep.equal({});
    await screenshot(page, '4-logged-out-again');
    expect(complaints).to.deep.equal([]);
  });

  it('links to the page that the user record names', async () => {
    const page = await openFrontEnd();
    await logIn(page, 'Grace Hopper');
    await page.getByRole('link', { name: 'View profile' }).click();
    await page.getByRole('heading', { name: 'Everybody' }).waitFor();
    await screenshot(page, '5-page-at-the-provider');
  });

  it('asks for a name again after a logout', async () => {
    const page = await openFrontEnd();
    await logIn(page, 'Ada Lovelace');
    await card(page).click();
    await logIn(page, 'Grace Hopper');
    expect(await page.getByRole('heading', { name: 'Grace Hopper' }).isVisible()).to.equal(true);
  });

  it('stays logged in over a reload', async () => {
    const page = await openFrontEnd();
    await logIn(page, 'Ada Lovelace');
    await page.reload();
    await page.getByRole('heading', { name: 'Ada Lovelace' }).waitFor();
  });

  it('keeps the token out of the history', async () => {
    const page = await openFrontEnd();
    const visited: string[] = [];
    await logIn(page, 'Ada Lovelace');
    page.on('framenavigated', (frame) => visited.push(frame.url()));
    await page.goBack();
    await page.getByRole('heading', { name: 'This login is over' }).waitFor();
    await screenshot(page, '7-back-at-the-provider');
    await page.goForward();
    await card(page).waitFor();
    expect(visited).to.have.length.at.least(2);
    expect(visited.filter((url) => url.includes('access_token'))).to.deep.equal([]);
  });

  it('tells a person who cancels, and lets them log in again', async () => {
    const page = await openFrontEnd();
    const cancel = async () => {
      await page.getByRole('button', { name: 'Cancel' }).click();
      await page.getByRole('heading', { name: 'Login cancelled' }).waitFor();
    };
    await page.getByRole('button', { name: 'Log in' }).click();
    await cancel();
    await screenshot(page, '10-cancelled');
    await page.getByRole('link', { name: `Back to ${frontEnd}` }).click();
    await page.getByRole('button', { name: 'Log in' }).click();
    await cancel();
    await page.getByRole('link', { name: 'Log in again' }).click();
    await page.getByLabel('Your name').fill('Ada Lovelace');
    await page.getByRole('button', { name: 'Log in' }).click();
    await page.getByRole('heading', { name: 'Ada Lovelace' }).waitFor();
    expect(page.url()).to.equal(contract);
  });

  it('discards a token that the relay refuses, and says why', async () => {
    const page = await openFrontEnd();
    await page.evaluate(`sessionStorage.setItem('token', 'made-up')`);
    await page.reload();
    const alert = page.getByRole('alert');
    await alert.waitFor();
    expect(await alert.textContent()).to.contain('The access token is invalid');
    expect(await stored(page)).to.deep.equal({});
    expect(await page.getByRole('button', { name: 'Log in' }).isVisible()).to.equal(true);
    await screenshot(page, '8-token-refused');
  });

  for (const [what, says, respond] of [
    ['the relay does not answer', 'did not answer', (route) => route.abort()],
    [
      'the provider cannot be reached',
      'The provider could not be reached.',
      (route) =>
        route.fulfill({ status: 502, json: { detail: 'The provider could not be reached.' } }),
    ],
    ['something between answers no JSON', 'status 503', (route) => route.fulfill({ status: 503 })],
    ['the answer is no user record', 'not a user record', (route) => route.fulfill({ json: [] })],
  ] as readonly [string, string, (route: Route) => Promise<void>][]) {
    it(`keeps the token if ${what}, says so, and retries on request`, async () => {
      const page = await openFrontEnd();
      await logIn(page, 'Ada Lovelace');
      const before = await stored(page);
      await page.route('**/api/user*', respond);
      await page.reload();
      const again = page.getByRole('button', { name: 'Try again' });
      await again.waitFor();
      expect(await page.getByRole('alert').textContent()).to.contain(says);
      expect(await stored(page)).to.deep.equal(before);
      await again.click();
      await again.waitFor();
      expect(await page.evaluate('document.activeElement.id')).to.equal('retry');
      await page.unroute('**/api/user*');
      await again.click();
      await page.getByRole('heading', { name: 'Ada Lovelace' }).waitFor();
      expect(await page.getByRole('alert').isVisible()).to.equal(false);
    });
  }

  it('lets a person log out even if the lookup fails', async () => {
    const page = await openFrontEnd();
    await page.evaluate(`sessionStorage.setItem('token', 'some-token')`);
    await page.route('**/api/user*', (route) => route.abort());
    await page.reload();
    await card(page).click();
    await page.getByRole('button', { name: 'Log in' }).waitFor();
    expect(await stored(page)).to.deep.equal({});
  });

  /** Shows each user record, as if the relay had answered it. */
  async function showRecords<Row extends { readonly user: object }>(
    rows: readonly Row[],
    check: (page: Page, row: Row) => Promise<void>,
  ): Promise<void> {
    const page = await openFrontEnd();
    await page.evaluate(`sessionStorage.setItem('token', 'some-token')`);
    for (const row of rows) {
      await page.route('**/api/user*', (route) => route.fulfill({ json: row.user }), { times: 1 });
      await page.reload();
      await card(page).waitFor();
      await check(page, row);
    }
  }

  it('shows the name from the record of each provider', async () => {
    const rows = [
      { provider: 'GitHub', user: { login: 'ada', name: null }, name: 'ada' },
      {
        provider: 'GitLab',
        user: { username: 'ada', name: 'Ada L.' },
        name: 'Ada L.',
        account: 'ada',
      },
      {
        provider: 'Gitea',
        user: { login: 'ada', full_name: 'Ada L.' },
        name: 'Ada L.',
        account: 'ada',
      },
      {
        provider: 'Discord',
        user: { username: 'ada', global_name: 'Ada L.' },
        name: 'Ada L.',
        account: 'ada',
      },
      { provider: 'Bitbucket', user: { uuid: '{1}', display_name: 'Ada L.' }, name: 'Ada L.' },
      { provider: 'Google', user: { sub: '1', name: 'Ada L.' }, name: 'Ada L.' },
      { provider: 'Twitch', user: { sub: '1', preferred_username: 'Ada' }, name: 'Ada' },
      { provider: 'Auth0', user: { sub: 'auth0|1', nickname: 'ada', name: ' ' }, name: 'ada' },
      { provider: 'bare OpenID Connect', user: { sub: '1' }, name: '1' },
      { provider: 'a provider of other fields', user: { login: 7, who: 'ada' }, name: 'Somebody' },
    ];
    await showRecords(rows, async (page, { provider, name, account = '' }) => {
      expect(await page.locator('#name').textContent(), provider).to.equal(name);
      const shown = page.locator('#account');
      expect(await shown.isVisible(), provider).to.equal(account !== '');
      if (account !== '') expect(await shown.textContent(), provider).to.equal(account);
    });
  });

  it('shows that it waits for the relay', async () => {
    const page = await openFrontEnd();
    await page.evaluate(`sessionStorage.setItem('token', 'some-token')`);
    const { promise: released, resolve: release } = Promise.withResolvers<void>();
    await page.route('**/api/user*', async (route) => {
      await released;
      await route.fulfill({ json: { login: 'ada' } });
    });
    await page.reload();
    await page.getByRole('status').getByText('Asking who you are.').waitFor();
    await screenshot(page, '9-loading');
    release();
    await page.getByRole('status').getByText('Logged in as ada.').waitFor();
  });

  it('shows an error from the address, and removes it there', async () => {
    const page = await openFrontEnd(
      {},
      '?tab=2&error=server_error&error_description=It+broke+%3Cb%3Ehere#top',
    );
    await page.getByRole('alert').waitFor();
    expect(await page.getByRole('alert').textContent()).to.equal(
      'The login failed: It broke <b>here',
    );
    expect(page.url()).to.equal(`${contract}?tab=2#top`);
  });

  it('accepts a token in the fragment, and removes it there', async () => {
    const page = await openFrontEnd();
    await page.route('**/api/user*', (route) => route.fulfill({ json: { login: 'ada' } }));
    await page.evaluate(`sessionStorage.setItem('state', 'mine')`);
    await page.goto(`${contract}?tab=2#access_token=some-token&state=mine`);
    await page.getByRole('heading', { name: 'ada' }).waitFor();
    expect(page.url()).to.equal(`${contract}?tab=2`);
  });

  for (const [what, query] of [
    ['beside a state that this tab did not send', 'access_token=somebody-elses&state=forged'],
    ['without a state', 'access_token=somebody-elses'],
  ]) {
    it(`refuses a token ${what}`, async () => {
      const page = await openFrontEnd({}, `?${query}`);
      await page.getByRole('alert').getByText('not started in this tab').waitFor();
      expect(await stored(page)).to.deep.equal({});
      expect(page.url()).to.equal(contract);
    });
  }

  it('stays logged in after foreign links, and says what they were', async () => {
    const page = await openFrontEnd();
    await logIn(page, 'Ada Lovelace');
    const before = await stored(page);
    for (const query of ['access_token=somebody-elses', 'error=access_denied', 'error=x&state=y']) {
      await page.goto(`${contract}?${query}`);
      await page.getByRole('heading', { name: 'Ada Lovelace' }).waitFor();
      expect(await page.getByRole('alert').textContent(), query).to.match(/login was/);
      expect(await stored(page), query).to.deep.equal(before);
    }
  });

  it('accepts a token only once with the state that this tab sent', async () => {
    const page = await openFrontEnd();
    await page.route('**/api/user*', (route) => route.fulfill({ json: { login: 'ada' } }));
    await page.evaluate(`sessionStorage.setItem('state', 'mine')`);
    await page.goto(`${contract}?access_token=some-token&state=mine`);
    await page.getByRole('heading', { name: 'ada' }).waitFor();
    await page.goto(`${contract}?access_token=some-token&state=mine`);
    await page.getByRole('alert').getByText('not started in this tab').waitFor();
  });

  it('sends a new state for each login', async () => {
    const page = await openFrontEnd();
    const states: (string | null)[] = [];
    page.on('request', (request) => {
      const url = new URL(request.url());
      if (url.pathname === '/auth/provider') states.push(url.searchParams.get('state'));
    });
    for (const name of ['Ada Lovelace', 'Grace Hopper']) {
      await logIn(page, name);
      await card(page).click();
    }
    expect(states).to.have.length(2);
    expect(states[0]).to.match(/^[\w-]{22,}$/);
    expect(states[1])
      .to.match(/^[\w-]{22,}$/)
      .and.to.not.equal(states[0]);
  });

  it('shows no profile link to what is no address of a page', async () => {
    const addresses = ['javascript:alert(1)', 'data:text/html,<p>', null, 'no address'];
    const rows = addresses.map((address) => ({ user: { login: 'ada', html_url: address } }));
    await showRecords(rows, async (page, { user }) => {
      const links = page.getByRole('link', { name: 'View profile' });
      expect(await links.count(), `${user.html_url}`).to.equal(0);
    });
  });

  it('shows a letter if the picture cannot be loaded', async () => {
    const page = await openFrontEnd();
    await page.route('**/*.svg', (route) => route.abort());
    await logIn(page, 'Ada Lovelace');
    await page.locator('#picture').waitFor({ state: 'hidden' });
    expect(await page.getByText('A', { exact: true }).isVisible()).to.equal(true);
  });

  it('works with only the keyboard', async () => {
    const page = await openFrontEnd();
    const focused = () => page.evaluate('document.activeElement.textContent.trim()');
    const outline = () =>
      page.evaluate('getComputedStyle(document.activeElement).outlineStyle !== "none"');
    const tabTo = async (name: string) => {
      const passed: unknown[] = [];
      do {
        await page.keyboard.press('Tab');
        expect(await outline(), name).to.equal(true);
        passed.push(await focused());
      } while (passed.at(-1) !== name && passed.length < 10);
      expect(passed.at(-1)).to.equal(name);
    };
    await tabTo('Log in');
    await screenshot(page, 'keyboard-log-in');
    await page.keyboard.press('Enter');
    await page.getByLabel('Your name').waitFor();
    await page.keyboard.type('Ada Lovelace');
    await screenshot(page, 'keyboard-provider');
    await page.keyboard.press('Enter');
    await card(page).waitFor();
    await tabTo('View profile');
    await tabTo('Log out');
    await page.keyboard.press('Space');
    await page.getByRole('button', { name: 'Log in' }).waitFor();
    expect(await focused()).to.equal('Log in');
  });

  it('starts again when the person comes back from the provider with the back button', async () => {
    const page = await openFrontEnd();
    await page.getByRole('button', { name: 'Log in' }).click();
    await page.getByLabel('Your name').waitFor();
    await page.goBack();
    await logIn(page, 'Ada Lovelace');
  });

  for (const colorScheme of ['light', 'dark'] as const) {
    for (const width of [320, 1280]) {
      it(`is readable in ${colorScheme} colours, ${width} pixels wide`, async () => {
        const page = await openFrontEnd({ colorScheme, viewport: { width, height: 740 } });
        const check = async (step: string) => {
          await screenshot(page, `${colorScheme}-${width}-${step}`);
          expect(await scrollsSideways(page), step).to.equal(false);
          expect(await lowContrastTexts(page), step).to.deep.equal([]);
        };
        await check('1-logged-out');
        await page.getByRole('button', { name: 'Log in' }).click();
        await page.getByLabel('Your name').fill(' ');
        await check('2-provider');
        await page.getByRole('button', { name: 'Log in' }).click();
        await page.getByRole('alert').waitFor();
        await check('3-provider-refuses-the-name');
        await page.getByLabel('Your name').fill('Ada Augusta King, Countess-of-Lovelace-née-Byron');
        await page.getByRole('button', { name: 'Log in' }).click();
        await card(page).waitFor();
        await pictureWidth(page);
        await check('4-logged-in');
        await page.evaluate(`sessionStorage.setItem('token', 'made-up')`);
        await page.reload();
        await page.getByRole('alert').waitFor();
        await check('5-problem');
        await page.evaluate(`sessionStorage.setItem('token', 'some-token')`);
        await page.route('**/api/user*', (route) => route.abort());
        await page.reload();
        await page.getByRole('button', { name: 'Try again' }).waitFor();
        await check('6-lookup-failed');
      });
    }
  }
});
