import { expect } from 'chai';
import type { Page } from 'playwright-core';
import { needsChromium, screenshot, useBrowser } from '../../harness/browser/chromium.ts';
import { authorize, startLogin, useLoginSite } from '../../harness/relay/login-site.ts';

const { describe } = needsChromium();

describe('login protection in Chromium', () => {
  const openPage = useBrowser();
  const card = (page: Page) => page.getByRole('button', { name: 'Log out' });
  const shownName = (page: Page) => page.getByRole('heading').textContent();
  const token = (page: Page) => page.evaluate(`sessionStorage.getItem('token')`);
  const answer = async (page: Page): Promise<unknown> =>
    JSON.parse((await page.locator('body').textContent()) ?? '');
  const expired = 'This login took longer than ten minutes and has expired. Start the login again.';
  const finished = 'This login is already finished. Start a new one to log in again.';

  describe('that answers failures as JSON', () => {
    const site = useLoginSite();

    async function openFrontEnd(): Promise<Page> {
      const page = await openPage();
      await page.goto(site().frontEnd);
      return page;
    }

    /** A page that is logged in, and the address of its callback. */
    async function finishedLogin(): Promise<{ page: Page; callback: string }> {
      const page = await openFrontEnd();
      await startLogin(page);
      await authorize(page, 'Ada Lovelace');
      await card(page).waitFor();
      return { page, callback: site().callbacks[0]?.url.href ?? '' };
    }

    it('keeps 20 logins: a start after them ends the oldest one', async () => {
      const page = await openFrontEnd();
      await startLogin(page);
      const other = await page.context().newPage();
      for (let count = 0; count < 20; count += 1) {
        await other.goto(site().startUrl, { waitUntil: 'commit' });
      }
      const names = (await page.context().cookies(site().relay)).map(({ name }) => name);
      expect(new Set(names).size).to.equal(20);
      for (const tab of [page, other]) {
        await authorize(tab, 'Ada Lovelace');
        await tab.waitForURL((url) => !url.href.startsWith(site().provider));
      }
      const outcomes = site().callbacks.map(({ outcome }) => outcome);
      expect(outcomes).to.deep.equal(['state_unknown', 'ok']);
    });

    it('leaves only the cookie that remembers finished logins', async () => {
      const { page } = await finishedLogin();
      const cookies = await page.context().cookies(site().relay);
      expect(cookies.map(({ name }) => name)).to.deep.equal(['lr_login_finished']);
    });

    it('says that a login is finished if its callback is opened again, reloaded or revisited', async () => {
      const { page, callback } = await finishedLogin();
      const before = await token(page);
      const visits = [
        () => page.goto(callback),
        () => page.reload(),
        async () => {
          await page.goBack();
          await card(page).waitFor();
          expect(await token(page)).to.equal(before);
          return await page.goForward();
        },
      ];
      for (const visit of visits) {
        expect((await visit())?.status()).to.equal(400);
        expect(page.url()).to.equal(callback);
        expect(await answer(page)).to.deep.equal({ detail: finished });
      }
      await screenshot(page, 'protection-2-finished');
      expect(site().tokenCalls).to.have.length(1);
      const outcomes = site().callbacks.map(({ outcome }) => outcome);
      expect(outcomes).to.deep.equal(['ok', ...Array(3).fill('state_finished')]);
    });

    it('gives no token to another tab in which a finished callback is opened', async () => {
      const { page, callback } = await finishedLogin();
      const other = await page.context().newPage();
      await other.goto(callback);
      expect(await answer(other)).to.deep.equal({ detail: finished });
      await other.goto(site().frontEnd);
      await other.getByText('Log in', { exact: true }).waitFor();
      expect(await token(other)).to.equal(null);
      expect(site().tokenCalls).to.have.length(1);
    });

    it('does not spend a new code on a login that is finished', async () => {
      const { page } = await finishedLogin();
      const authorizationRequest = site().exchanges.find(({ location }) =>
        location?.startsWith(site().provider),
      );
      await page.goto(authorizationRequest?.location ?? '');
      await authorize(page, 'Grace Hopper');
      await page.waitForURL(`${site().callbackUrl}?**`);
      expect(await answer(page)).to.deep.equal({ detail: finished });
      expect(site().tokenCalls).to.have.length(1);
    });

    it('does not affect a login in another tab', async () => {
      const { page, callback } = await finishedLogin();
      const other = await page.context().newPage();
      await other.goto(site().frontEnd);
      await startLogin(other);
      await page.goto(callback);
      await page.goto(`${site().callbackUrl}?code=made-up&state=made-up`);
      await page.goto(`${site().callbackUrl}?code=made-up`);
      await authorize(other, 'Grace Hopper');
      await card(other).waitFor();
      expect(await shownName(other)).to.equal('Grace Hopper');
      const outcomes = site().callbacks.map(({ outcome }) => outcome);
      const refused = ['state_finished', 'state_altered', 'state_missing'];
      expect(outcomes).to.deep.equal(['ok', ...refused, 'ok']);
    });
  });

  describe('that redirects failures to the front end', () => {
    const site = useLoginSite({ flags: { errorDelivery: 'redirect' } });

    it('tells a tab after eleven minutes why it failed, and one click starts again', async () => {
      const page = await openPage();
      await page.goto(site().frontEnd);
      await startLogin(page);
      site().advance(11);
      await authorize(page, 'Ada Lovelace');
      await page.getByRole('alert').waitFor();
      expect(await page.getByRole('alert').textContent()).to.contain(expired);
      expect(page.url()).to.equal(`${site().frontEnd}/`);
      expect(await token(page)).to.equal(null);
      expect(site().tokenCalls).to.deep.equal([]);
      await screenshot(page, 'protection-3-expired-redirect');

      await page.getByRole('button', { name: 'Log in' }).click();
      await authorize(page, 'Ada Lovelace');
      await card(page).waitFor();
      expect(await shownName(page)).to.equal('Ada Lovelace');
      expect(site().tokenCalls).to.have.length(1);
    });
  });
});
