import { expect } from 'chai';
import type { Page } from 'playwright-core';
import { needsChromium, screenshot, useBrowser } from '../../harness/browser/chromium.ts';
import { popupPage } from '../../harness/browser/popup-page.ts';
import { authorize, useLoginSite } from '../../harness/relay/login-site.ts';

const { describe } = needsChromium();

describe('a login in a popup in Chromium', () => {
  const openPage = useBrowser();

  async function openPopup(page: Page): Promise<Page> {
    const opened = page.context().waitForEvent('page');
    await page.getByRole('button', { name: 'Log in' }).click();
    const popup = await opened;
    await popup.getByLabel('Your name').waitFor();
    return popup;
  }

  for (const channel of ['postMessage', 'BroadcastChannel'] as const) {
    describe(`that delivers its result with ${channel}`, () => {
      const site = useLoginSite({
        frontEnd: (relay) => popupPage(relay, channel),
        flags: { errorDelivery: 'redirect' },
      });

      async function openFrontEnd(): Promise<Page> {
        const page = await openPage();
        await page.goto(site().frontEnd);
        return page;
      }

      it('logs in the page that opened it, and closes', async () => {
        const page = await openFrontEnd();
        const popup = await openPopup(page);
        await screenshot(popup, `popup-${channel}-1-at-the-provider`);
        const closed = popup.waitForEvent('close');
        await authorize(popup, 'Ada Lovelace');
        await closed;
        await page.getByText('Hello, Ada Lovelace').waitFor();
        await screenshot(page, `popup-${channel}-2-logged-in`);
        expect(page.url()).to.equal(`${site().frontEnd}/`);
        expect(site().tokenCalls).to.have.length(1);
        expect(site().callbacks.map(({ outcome }) => outcome)).to.deep.equal(['ok']);
      });

      it('tells the page that opened it why it failed', async () => {
        const page = await openFrontEnd();
        const popup = await openPopup(page);
        const closed = popup.waitForEvent('close');
        await popup.getByRole('button', { name: 'Cancel' }).click();
        await closed;
        await page.getByText('access_denied').waitFor();
        expect(await page.evaluate('({ ...sessionStorage })')).to.deep.equal({});
        expect(site().tokenCalls).to.deep.equal([]);
      });
    });
  }
});
