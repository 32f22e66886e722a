import { expect } from 'chai';
import type { Page } from 'playwright-core';
import { needsChromium, screenshot, useBrowser } from '../../harness/browser/chromium.ts';
import { authorize, startLogin, useLoginSite } from '../../harness/relay/login-site.ts';

const { describe } = needsChromium();

describe('login protection in Chromium', () => {
  const openPage = useBrowser();
  const card = (page: Page) => page.getByRole('button', { name: 'Log out' });
  const token = (page: Page) => page.evaluate(`sessionStorage.getItem('token')`);
  const answer = async (page: Page): Promise<unknown> =>
    JSON.parse((await page.locator('body').textContent()) ?? '');
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
  });
});
