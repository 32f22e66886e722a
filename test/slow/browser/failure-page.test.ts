import { expect } from 'chai';
import type { BrowserContextOptions, Page } from 'playwright-core';
import { expectReadable, looks, needsChromium, useBrowser } from '../../harness/browser/chromium.ts';
import { authorize, startLogin, useLoginSite } from '../../harness/relay/login-site.ts';

const { describe } = needsChromium();

describe('the failure page in Chromium', () => {
  const openPage = useBrowser();
  const site = useLoginSite({ flags: { errorDelivery: 'page' } });
  const again = (page: Page) => page.getByRole('link', { name: 'Log in again' });

  async function openFrontEnd(options?: BrowserContextOptions): Promise<Page> {
    const page = await openPage(options);
    await page.goto(site().frontEnd);
    return page;
  }

  async function cancelledLogin(options?: BrowserContextOptions): Promise<Page> {
    const page = await openFrontEnd(options);
    await startLogin(page);
    await page.getByRole('button', { name: 'Cancel' }).click();
    await page.getByRole('heading', { name: 'Login cancelled' }).waitFor();
    return page;
  }

  it('says that a login has expired, and starts it again with one click', async () => {
    const page = await openFrontEnd();
    const complaints: string[] = [];
    page.on('console', (message) => complaints.push(message.text()));
    await startLogin(page);
    site().advance(11);
    // The browser has dropped the cookie by now.
    await page.context().clearCookies({ name: /^lr_/ });
    await authorize(page, 'Ada Lovelace');
    await page.getByRole('heading', { name: 'Login expired' }).waitFor();
    await page.getByText('longer than ten minutes').waitFor();
    await again(page).click();
    await authorize(page, 'Ada Lovelace');
    await page.getByRole('heading', { name: 'Ada Lovelace' }).waitFor();
    expect(page.url()).to.equal(`${site().frontEnd}/`);
    expect(site().tokenCalls).to.equal(1);
    // Chromium reports the status of the page itself.
    expect(complaints.filter((text) => !text.includes('status of 400'))).to.deep.equal([]);
  });

  it('is readable in light and dark colours, 320 and 1280 pixels wide', async () => {
    for (const look of looks) {
      const page = await cancelledLogin(look);
      await expectReadable(page, `failure-${look.colorScheme}`);
      const style = 'getComputedStyle(document.querySelector("main")).borderRadius';
      expect(await page.evaluate(style), 'the style is applied').to.equal('16px');
    }
  });
});
