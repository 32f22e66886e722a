import { expect } from 'chai';
import type { Page } from 'playwright-core';
import { demoPages } from '../../../src/demo/pages.ts';
import { type OpenPort, openPort } from '../../../src/demo/ports.ts';
import { expectReadable, looks, needsChromium, useBrowser } from '../../harness/browser/chromium.ts';
import { authorize, startLogin } from '../../harness/relay/login-site.ts';
import { RelayProcess } from '../../harness/relay/relay-process.ts';

const { describe } = needsChromium();

async function stop(demo: RelayProcess): Promise<void> {
  const { code, stderr } = await demo.stop('SIGINT');
  expect({ code, stderr }).to.deep.equal({ code: 0, stderr: '' });
}

/** The part of the page after the requests of the login. */
const shownOf = [
  {
    page: demoPages.oauth,
    // After a reload, the page still has its token. The logout revokes the login.
    later: ['GET /api/user', 'POST /auth/provider/revoke'],
  },
  {
    page: demoPages.notes,
    // The identity that the API gets.
    shown: 'This note is for ada-lovelace alone.',
    later: ['GET /auth/check/notes', 'POST /auth/provider/revoke'],
  },
  {
    page: demoPages.session,
    later: ['GET /auth/session', 'GET /api/user', 'POST /auth/logout', 'GET /auth/session'],
  },
  { page: demoPages.contract, later: ['GET /api/user'] },
  {
    page: demoPages.anyone,
    isAsked: true,
    later: ['GET /api/user', 'POST /auth/provider/revoke'],
  },
];

describe('the demo in Chromium', () => {
  const openPage = useBrowser();
  let demo: RelayProcess;
  let frontEnd = '';

  before('the demo starts', async () => {
    demo = new RelayProcess({ words: ['demo'], flags: { port: '0' } });
    frontEnd = await demo.output((text) => /^ *front end +(http:\S+)\n/m.exec(text)?.[1]);
  });
  after('the demo stops', () => stop(demo));

  /** Consents as somebody does who reads the page, and presses again if a busy machine lets them press too early. */
  async function agree(page: Page): Promise<void> {
    const button = page.getByRole('button', { name: 'Continue' });
    const login = page.getByLabel('Your name');
    const tooEarly = page.getByRole('status').filter({ hasText: 'just appeared' });
    await button.waitFor();
    for (let presses = 0; presses < 10 && !(await login.isVisible()); presses += 1) {
      for (const y of [3, 6]) await page.mouse.move(3, y);
      await page.waitForTimeout(1100);
      await button.click();
      await login.or(tooEarly).waitFor();
    }
  }

  const shows = (page: Page, name: string) => page.getByRole('heading', { name }).waitFor();
  const steps = (page: Page) => page.locator('#steps li:not(.soft) code').allTextContents();
  const showsStep = (page: Page, count: number) => page.locator(`#steps li:nth-child(${count}):not(.soft)`).waitFor();

  for (const { page: delivery, isAsked = false, shown = 'Ada Lovelace', later } of shownOf) {
    const { title, path, requests } = delivery;
    it(`logs a person in and out at “${title}”, and shows the steps`, async () => {
      const page = await openPage();
      const showsLogin = () => page.locator('#in', { hasText: shown }).waitFor();
      const complaints: string[] = [];
      page.on('console', (message) => {
        // The lookup of somebody who is not logged in, or a proof without a nonce may be refused.
        if (!/40[01]/.test(message.text())) complaints.push(message.text());
      });
      page.on('pageerror', (error) => complaints.push(error.message));
      await page.goto(`${frontEnd}/contract`);
      await page.getByRole('link', { name: title }).click();
      await shows(page, 'Not logged in');
      expect(await page.locator('#steps li.soft').allTextContents()).to.deep.equal(requests);
      await page.getByRole('button', { name: 'Log in' }).click();
      if (isAsked) await agree(page);
      await authorize(page, 'Ada Lovelace');
      await showsLogin();
      expect(page.url()).to.equal(frontEnd + path);
      await showsStep(page, requests.length);
      expect(await steps(page)).to.deep.equal(requests);
      await page.reload();
      await showsLogin();
      await page.getByRole('button', { name: 'Log out' }).click();
      await shows(page, 'Not logged in');
      await page.reload();
      await shows(page, 'Not logged in');
      await showsStep(page, requests.length + later.length);
      expect(await steps(page)).to.deep.equal([...requests, ...later]);
      expect(await page.locator('#steps .failed').count()).to.equal(0);
      expect(complaints).to.deep.equal([]);
    });
  }

  it('logs a person in and out through the popup of a CMS', async () => {
    const page = await openPage();
    await page.goto(`${frontEnd}/cms`);
    const opened = page.waitForEvent('popup');
    await page.getByRole('button', { name: 'Log in' }).click();
    const popup = await opened;
    const closed = popup.waitForEvent('close');
    await authorize(popup, 'Ada Lovelace');
    await shows(page, 'Ada Lovelace');
    await closed;
    await showsStep(page, demoPages.cms.requests.length);
    expect(await steps(page)).to.deep.equal(demoPages.cms.requests);
    await page.getByRole('button', { name: 'Log out' }).click();
    await shows(page, 'Not logged in');
  });

  it('opens a dashboard after a login, and closes it after a logout', async () => {
    const page = await openPage();
    const open = async () => {
      await page.goto(frontEnd);
      await page.getByRole('link', { name: 'A dashboard behind the login' }).click();
    };
    await open();
    await authorize(page, 'Ada Lovelace');
    await shows(page, 'The dashboard of ada-lovelace');
    await expectReadable(page, 'dashboard');
    await page.getByRole('link', { name: 'Log out' }).click();
    await page.getByRole('button', { name: 'Log out' }).click();
    await shows(page, 'You are logged out');
    await open();
    await page.getByLabel('Your name').waitFor();
  });

  it('is readable in light and dark colours, 320 and 1280 pixels wide', async () => {
    for (const look of looks) {
      const page = await openPage(look);
      for (const path of ['/', '/notes', '/session', '/members', '/cms', '/anyone', '/contract']) {
        await page.goto(frontEnd + path);
        await shows(page, 'Not logged in');
        await expectReadable(page, `${look.colorScheme}${path.replace('/', '-')}`);
      }
      await startLogin(page);
      await authorize(page, ' ');
      await page.getByRole('alert').waitFor();
      await expectReadable(page, `${look.colorScheme}-provider-refuses-the-name`);
      await authorize(page, 'Ada Augusta King, Countess-of-Lovelace-née-Byron');
      await page.getByRole('button', { name: 'Log out' }).waitFor();
      await expectReadable(page, `${look.colorScheme}-logged-in`);
      await page.evaluate(`sessionStorage.setItem('token', 'made-up')`);
      await page.reload();
      await page.getByRole('alert').waitFor();
      await expectReadable(page, `${look.colorScheme}-problem`);
    }
  });
});

for (const tokenDelivery of ['query', 'code', 'session']) {
  describe(`a page of one’s own at the demo, with ${tokenDelivery}, in Chromium`, () => {
    const openPage = useBrowser();
    let demo: RelayProcess;
    let own: OpenPort;

    before('the demo and the page start', async () => {
      own = await openPort(0, 'a test');
      const flags = { port: '0', origin: own.url, 'token-delivery': tokenDelivery };
      demo = new RelayProcess({ words: ['demo'], flags });
      const lines = await demo.output((text) => /Put this into the page:\n\n(.*?)\n\n/s.exec(text)?.[1]);
      own.serve((_request, response) => {
        response.setHeader('Content-Type', 'text/html; charset=utf-8');
        response.end(`<!doctype html><title>My page</title>${lines}`);
      });
    });
    after('both stop', async () => {
      await own.close();
      await stop(demo);
    });

    it('logs in with the lines that the demo prints', async () => {
      const page = await openPage();
      await page.goto(own.url);
      await startLogin(page);
      await authorize(page, 'Ada Lovelace');
      await page.getByText('Hello, Ada Lovelace').waitFor();
      expect(page.url()).to.equal(`${own.url}/`);
      await page.getByRole('button', { name: 'Log out' }).click();
      await page.getByText('You are not logged in.').waitFor();
    });
  });
}
