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

  before(() => {
    ({ frontEnd } = demo());
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

  it('keeps the token if the lookup fails, says why, and retries on request', async () => {
    const page = await openFrontEnd();
    await logIn(page, 'Ada Lovelace');
    const before = await stored(page);
    const again = page.getByRole('button', { name: 'Try again' });
    const detail = 'The provider could not be reached.';
    for (const [says, respond] of [
      ['did not answer', (route) => route.abort()],
      [detail, (route) => route.fulfill({ status: 502, json: { detail } })],
      ['status 503', (route) => route.fulfill({ status: 503 })],
      ['not a user record', (route) => route.fulfill({ json: [] })],
    ] as readonly [string, (route: Route) => Promise<void>][]) {
      await page.route('**/api/user*', respond);
      await page.reload();
      await again.waitFor();
      expect(await page.getByRole('alert').textContent()).to.contain(says);
      expect(await stored(page)).to.deep.equal(before);
      await again.click();
      await again.waitFor();
      expect(await page.evaluate('document.activeElement.id')).to.equal('retry');
      await page.unroute('**/api/user*');
    }
    await again.click();
    await page.getByRole('heading', { name: 'Ada Lovelace' }).waitFor();
    expect(await page.getByRole('alert').isVisible()).to.equal(false);
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
      { user: { login: 'ada', name: null }, name: 'ada' },
      { user: { username: 'ada', name: 'Ada L.' }, name: 'Ada L.', account: 'ada' },
      { user: { login: 'ada', full_name: 'Ada L.' }, name: 'Ada L.', account: 'ada' },
      { user: { username: 'ada', global_name: 'Ada L.' }, name: 'Ada L.', account: 'ada' },
      { user: { uuid: '{1}', display_name: 'Ada L.' }, name: 'Ada L.' },
      { user: { sub: '1', name: 'Ada L.' }, name: 'Ada L.' },
      { user: { sub: '1', preferred_username: 'Ada' }, name: 'Ada' },
      { user: { sub: 'auth0|1', nickname: 'ada', name: ' ' }, name: 'ada' },
      { user: { sub: '1' }, name: '1' },
      { user: { login: 7, who: 'ada' }, name: 'Somebody' },
    ];
    await showRecords(rows, async (page, { user, name, account = '' }) => {
      const record = JSON.stringify(user);
      expect(await page.locator('#name').textContent(), record).to.equal(name);
      const shown = page.locator('#account');
      expect((await shown.isVisible()) ? await shown.textContent() : '', record).to.equal(account);
    });
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

  it('shows no profile link to what is no address of a page', async () => {
    const addresses = ['javascript:alert(1)', 'data:text/html,<p>', null, 'no address'];
    const rows = addresses.map((address) => ({ user: { login: 'ada', html_url: address } }));
    await showRecords(rows, async (page, { user }) => {
      const links = page.getByRole('link', { name: 'View profile' });
      expect(await links.count(), `${user.html_url}`).to.equal(0);
    });
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

  it('is readable in light and dark colours, 320 and 1280 pixels wide', async () => {
    for (const [colorScheme, width] of [
      ['light', 1280],
      ['dark', 320],
    ] as const) {
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
    }
  });
});
