import { expect } from 'chai';
import type { Page } from 'playwright-core';
import { type ChoiceSite, startChoiceSite } from '../../browsers/support/choice-site.ts';
import { expectReadable, looks, needsChromium, useBrowser } from '../../harness/browser/chromium.ts';

const { describe } = needsChromium();

describe('the page to choose a provider in Chromium', () => {
  const openPage = useBrowser();
  let site: ChoiceSite;
  before('start the relay', async () => {
    site = await startChoiceSite();
  });
  beforeEach(() => site.configure());
  after('stop it', () => site.stop());
  const isAt = async (page: Page, text: string) => await page.getByRole('heading', { name: text }).waitFor();

  it('is readable in light and dark colours, 320 and 1280 pixels wide, before and after a choice', async () => {
    const long = `pages: { name: Example, colour: '#8a2be2' }`;
    for (const relay of ['', long]) {
      await site.configure({ relay });
      for (const look of looks) {
        const page = await openPage(look);
        await page.goto(`${site.wiki}/`);
        await expectReadable(page, `choice-${look.colorScheme}`);
        await page.getByRole('button', { name: 'Example & Sons' }).click();
        await isAt(page, 'second:42 at /');
        await page.goto(`${site.wiki}/.login-relay/choose?prompt=select_account`);
        await expectReadable(page, `choice-again-${look.colorScheme}`);
        const first = page.getByRole('button').first();
        expect(await first.textContent()).to.include('Example & Sons');
      }
    }
  });

  it('needs no script, and no mouse', async () => {
    const page = await openPage({ javaScriptEnabled: false });
    await page.goto(`${site.wiki}/notes`);
    await page.keyboard.press('Tab');
    await page.keyboard.press('Tab');
    await page.keyboard.press('Enter');
    await isAt(page, 'second:42 at /notes');
  });

  it('breaks no rule of its own policy', async () => {
    const page = await openPage();
    const complaints: string[] = [];
    page.on('console', (message) => complaints.push(message.text()));
    await page.goto(`${site.wiki}/notes`);
    await page.getByRole('button', { name: 'Example & Sons' }).click();
    await isAt(page, 'second:42 at /notes');
    expect(complaints).to.deep.equal([]);
  });

  it('shows nothing in a frame, and is not chosen by a form of another site', async () => {
    const page = await openPage();
    await page.goto(`http://127.0.0.1:${new URL(site.relay.provider.origin).port}/favicon.ico`);
    const target = `${site.wiki}/.login-relay/choose`;
    await page.evaluate(`document.body.innerHTML = '<iframe src="${target}"></iframe>'`);
    const frame = page.frames().find((one) => one.parentFrame() !== null);
    await frame?.waitForLoadState().catch(() => {});
    expect(await frame?.locator('button').count()).to.equal(0);
    await page.evaluate(
      `document.body.innerHTML = '<form method="post" action="${target}"><button name="provider" value="second">x</button></form>'`,
    );
    await page.locator('button').click();
    await isAt(page, 'Sent from another site');
    expect(site.asked).to.deep.equal({ provider: 0, second: 0 });
  });
});
