import { expect } from 'chai';
import type { Page } from 'playwright-core';
import {
  lowContrastTexts,
  needsChromium,
  screenshot,
  scrollsSideways,
  useBrowser,
} from '../../harness/browser/chromium.ts';
import { useDemo } from './support/demo.ts';

const { describe } = needsChromium();

describe('the demo’s deliveries in Chromium', () => {
  const openPage = useBrowser();
  const demo = useDemo();
  let frontEnd: string;

  before(() => {
    ({ frontEnd } = demo());
  });

  async function authorize(page: Page, name: string): Promise<void> {
    await page.getByLabel('Your name').fill(name);
    await page.getByRole('button', { name: 'Log in' }).click();
  }

  const logInButton = (page: Page) => page.getByRole('button', { name: 'Log in' });
  const steps = (page: Page) => page.locator('#steps li code').allTextContents();

  /** Fails if the page complains. */
  function complaintsOf(page: Page): string[] {
    const complaints: string[] = [];
    page.on('console', (message) => {
      // A preflight, the lookup of somebody who is not logged in, or a proof without a nonce may be refused.
      if (!/40[01]/.test(message.text())) complaints.push(message.text());
    });
    page.on('pageerror', (error) => complaints.push(error.message));
    return complaints;
  }

  for (const { title, path, isAsked = false, expected, later } of [
    {
      title: 'OAuth',
      path: '/',
      // After a reload, the page still has its token. The logout revokes the login.
      later: ['GET /api/user', 'POST /auth/provider/revoke'],
      expected: [
        'GET /auth/provider',
        'GET /auth/provider/callback',
        // The first answer gives the nonce of the proof.
        'POST /auth/provider/token',
        'POST /auth/provider/token',
        'GET /api/user',
      ],
    },
    {
      title: 'Session',
      path: '/session',
      later: ['GET /auth/session', 'GET /api/user', 'POST /auth/logout', 'GET /auth/session'],
      expected: [
        'GET /auth/provider',
        'GET /auth/provider/callback',
        'GET /auth/session',
        'GET /api/user',
      ],
    },
    {
      title: 'Token in the address',
      path: '/contract',
      later: ['GET /api/user'],
      expected: ['GET /auth/provider', 'GET /auth/provider/callback', 'GET /api/user'],
    },
    {
      title: 'Nobody registered it',
      path: '/anyone',
      isAsked: true,
      later: ['GET /api/user', 'POST /auth/provider/revoke'],
      expected: [
        'POST /auth/provider/register',
        'GET /auth/provider',
        'POST /auth/provider/consent',
        'GET /auth/provider/callback',
        'POST /auth/provider/token',
        'POST /auth/provider/token',
        'GET /api/user',
      ],
    },
  ]) {
    it(`logs a person in and out by ${title}, and shows the steps`, async () => {
      const page = await openPage();
      const complaints = complaintsOf(page);
      await page.goto(`${frontEnd}/contract`);
      await page.getByRole('link', { name: title }).click();
      expect(page.url()).to.equal(frontEnd + path);
      await page.getByRole('heading', { name: 'Not logged in' }).waitFor();
      await screenshot(page, `${title}-1`);
      await logInButton(page).click();
      if (isAsked) await page.getByRole('button', { name: 'Continue' }).click();
      await authorize(page, 'Ada Lovelace');
      await page.getByRole('heading', { name: 'Ada Lovelace' }).waitFor();
      expect(page.url()).to.equal(frontEnd + path);
      await page.locator('#steps').getByText('GET /api/user').waitFor();
      await screenshot(page, `${title}-2`);
      expect(await steps(page)).to.deep.equal(expected);
      await page.reload();
      await page.getByRole('heading', { name: 'Ada Lovelace' }).waitFor();
      await page.getByRole('button', { name: 'Log out' }).click();
      await page.getByRole('heading', { name: 'Not logged in' }).waitFor();
      await page.reload();
      await page.getByRole('heading', { name: 'Not logged in' }).waitFor();
      await screenshot(page, `${title}-3`);
      await page.locator(`#steps li:nth-child(${expected.length + later.length})`).waitFor();
      expect(await steps(page)).to.deep.equal([...expected, ...later]);
      expect(await page.locator('#steps .failed').count()).to.equal(0);
      expect(complaints).to.deep.equal([]);
    });
  }

  describe('CMS popup', () => {
    it('logs a person in and out through the popup, and shows the steps', async () => {
      const page = await openPage();
      const complaints = complaintsOf(page);
      await page.goto(`${frontEnd}/cms`);
      const opened = page.waitForEvent('popup');
      await logInButton(page).click();
      const popup = await opened;
      await popup.getByLabel('Your name').waitFor();
      await screenshot(page, 'cms-1');
      await authorize(popup, 'Ada Lovelace');
      await page.getByRole('heading', { name: 'Ada Lovelace' }).waitFor();
      await screenshot(page, 'cms-2');
      expect(popup.isClosed()).to.equal(true);
      await page.locator('#steps').getByText('GET /api/user').waitFor();
      expect(await steps(page)).to.deep.equal([
        'GET /auth/provider/cms',
        'GET /auth/provider/callback',
        'GET /api/user',
      ]);
      await page.getByRole('button', { name: 'Log out' }).click();
      await page.getByRole('heading', { name: 'Not logged in' }).waitFor();
      expect(complaints).to.deep.equal([]);
    });
  });

  it('are readable, 320 pixels wide', async () => {
    const page = await openPage({ colorScheme: 'dark', viewport: { width: 320, height: 640 } });
    for (const path of ['/', '/session', '/members', '/contract', '/cms', '/anyone']) {
      await page.goto(frontEnd + path);
      await page.getByRole('heading', { name: 'Not logged in' }).waitFor();
      await screenshot(page, `dark-320${path.replace('/', '-')}`);
      expect(await scrollsSideways(page), path).to.equal(false);
      expect(await lowContrastTexts(page), path).to.deep.equal([]);
    }
  });
});
