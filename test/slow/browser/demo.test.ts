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

  it('keeps the token if the lookup fails, and says why', async () => {
    const page = await openFrontEnd();
    await logIn(page, 'Ada Lovelace');
    const before = await stored(page);
    const detail = 'The provider could not be reached.';
    const fail = (route: Route) => route.fulfill({ status: 502, json: { detail } });
    await page.route('**/api/user*', fail);
    await page.reload();
    await page.getByText(detail).waitFor();
    expect(await stored(page)).to.deep.equal(before);
    await page.unroute('**/api/user*');
    await page.reload();
    await page.getByRole('heading', { name: 'Ada Lovelace' }).waitFor();
    expect(await page.getByRole('alert').isVisible()).to.equal(false);
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
    await tabTo('Log out');
    await page.keyboard.press('Space');
    await page.getByRole('button', { name: 'Log in' }).waitFor();
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
      await check('4-logged-in');
      await page.evaluate(`sessionStorage.setItem('token', 'made-up')`);
      await page.reload();
      await page.getByRole('alert').waitFor();
      await check('5-problem');
    }
  });
});
