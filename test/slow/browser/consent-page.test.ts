import { expect } from 'chai';
import type { BrowserContextOptions, Page } from 'playwright-core';
import { askingProgram } from '../../clients/support/asking-program.ts';
import {
  expectReadable,
  looks,
  needsChromium,
  screenshot,
  stopTime,
  useBrowser,
} from '../../harness/browser/chromium.ts';

const { describe } = needsChromium();

/** A window that it opens runs no scripts, whatever it shows later. */
const sandbox = `<iframe sandbox="allow-popups allow-forms allow-same-origin" srcdoc="
  <a href='/empty' target='above'>Go on</a>"></iframe>`;

describe('the consent page in Chromium', () => {
  const openPage = useBrowser();
  const program = askingProgram({
    pages: { '/attack': `<button>Double click here</button>${sandbox}`, '/empty': '' },
  });
  const question = () => program().question();
  const atProvider = (path: string) => program().relay.provider.origin + path;

  async function asked(
    options?: BrowserContextOptions,
    prepare: (page: Page) => Promise<void> = async () => {},
  ): Promise<Page> {
    const page = await openPage(options);
    await prepare(page);
    await page.goto(await question());
    return page;
  }

  const said = (page: Page) => page.getByRole('heading', { name: 'You can close this page' });
  const button = (page: Page) => page.getByRole('button', { name: 'Continue' });
  const tooEarly = (page: Page) => page.getByRole('status').filter({ hasText: 'just appeared' });

  /** The question, uncovered a moment ago, with the time in the hands of the test. */
  async function askedNow(options?: BrowserContextOptions): Promise<Page> {
    const page = await asked(options, stopTime);
    await uncover(page);
    return page;
  }

  const uncover = (page: Page) => page.evaluate(`void dispatchEvent(new Event('focus'))`);

  async function movePointer(page: Page): Promise<void> {
    for (const y of [3, 6]) await page.mouse.move(3, y);
  }

  async function expectTooEarly(page: Page): Promise<void> {
    await button(page).click();
    await expectAsked(page);
  }

  /** Checks that the last press did not count. */
  async function expectAsked(page: Page): Promise<void> {
    expect(await page.locator('[value=continue]').count()).to.equal(1);
    await tooEarly(page).waitFor();
  }

  it('does not take the second click of a double click on a window above it', async () => {
    const page = await openPage();
    await stopTime(page);
    await page.goto(atProvider('/attack'));
    const [above] = await Promise.all([page.waitForEvent('popup'), page.evaluate(`void open('/attack')`)]);
    await above.waitForLoadState();
    await Promise.all([
      page.getByRole('button', { name: 'Cancel' }).waitFor(),
      above.evaluate(`
        opener.location = ${JSON.stringify(await question())};
        addEventListener('mousedown', () => close());
      `),
    ]);
    const box = await button(page).boundingBox();
    const x = (box?.x ?? 0) + 5;
    const y = (box?.y ?? 0) + 5;
    await page.clock.runFor(1100);
    await Promise.all([above.waitForEvent('close'), above.mouse.click(x, y).catch(() => {})]);
    await page.mouse.click(x, y);
    await expectAsked(page);
    await screenshot(page, 'consent-too-early');
  });

  it('accepts a press a second after it was uncovered or resized, and after a sign of attention', async () => {
    const page = await askedNow();
    await page.clock.runFor(900);
    await movePointer(page);
    await expectTooEarly(page);
    await page.clock.runFor(200);
    await page.evaluate(`void (window.resized = new Promise((done) => addEventListener('resize', () => done())))`);
    await page.setViewportSize({ width: 700, height: 700 });
    await page.evaluate('resized');
    await movePointer(page);
    await expectTooEarly(page);
    await page.clock.runFor(1000);
    await button(page).click();
    await said(page).waitFor();
  });

  it('works with only the keyboard', async () => {
    const page = await askedNow();
    const focused = () => page.locator(':focus-visible').innerText();
    await page.keyboard.press('Tab');
    expect(await focused()).to.equal('Continue');
    await page.keyboard.press('Tab');
    expect(await focused()).to.equal('Cancel');
    await screenshot(page, 'consent-keyboard');
    await page.clock.runFor(1000);
    await page.keyboard.press('Shift+Tab');
    await page.keyboard.press('Enter');
    await said(page).waitFor();
  });

  it('takes no press of several that follow each other within a second', async () => {
    const page = await askedNow();
    for (let presses = 0; presses < 5; presses += 1) {
      await page.clock.runFor(300);
      await movePointer(page);
      await expectTooEarly(page);
    }
    await page.clock.runFor(1000);
    await button(page).click();
    await said(page).waitFor();
  });

  it('takes no key that was pressed too early, however long it is held', async () => {
    const page = await askedNow();
    const { keyboard } = page;
    await keyboard.press('Tab');
    for (const key of ['Space', 'Enter']) {
      await keyboard.down(key);
      await page.clock.runFor(2000);
      // A second `down` is a repetition.
      if (key === 'Enter') await keyboard.down(key);
      await keyboard.up(key);
      await expectAsked(page);
    }
    await page.clock.runFor(1000);
    await keyboard.down('Space');
    await keyboard.down('Space');
    await keyboard.up('Space');
    await said(page).waitFor();
  });

  it('takes no press that was too early, and comes late from a busy machine', async () => {
    const page = await askedNow();
    await page.clock.runFor(1500);
    await page.evaluate(`
      const value = performance.now() - 600;
      dispatchEvent(Object.defineProperty(new PointerEvent('pointerdown'), 'timeStamp', { value }));
      document.querySelector('[value=continue]').click();
    `);
    await expectAsked(page);
  });

  it('works with a finger', async () => {
    const page = await askedNow({ hasTouch: true });
    await page.clock.runFor(1000);
    await button(page).tap();
    await said(page).waitFor();
  });

  it('works for programs that press for a person', async () => {
    const page = await askedNow();
    await page.evaluate(`document.querySelector('[value=continue]').click()`);
    await tooEarly(page).waitFor();
    await page.clock.runFor(1000);
    await page.evaluate(`document.querySelector('[value=continue]').click()`);
    await said(page).waitFor();
  });

  it('asks for a number without scripts, because a foreign page can turn scripts off', async () => {
    const page = await openPage();
    await page.goto(atProvider('/attack'));
    const link = page.frameLocator('iframe').getByRole('link');
    const [above] = await Promise.all([page.waitForEvent('popup'), link.click()]);
    await page.evaluate(`void open(${JSON.stringify(await question())}, 'above')`);
    await button(above).click();
    await above.getByRole('heading', { name: 'Are you sure?' }).waitFor();
    await screenshot(above, 'consent-without-scripts');
    const field = above.getByRole('textbox');
    for (const typed of ['', '12345']) {
      await field.fill(typed);
      await button(above).click();
      expect(await said(above).count()).to.equal(0);
    }
    expect(await above.locator('main').innerText())
      .to.contain('127.0.0.1')
      .and.to.contain('Code review');
    const digits = await above.locator('kbd').allInnerTexts();
    expect(digits.join('')).to.match(/^\d{4}$/);
    await field.fill(digits.join(''));
    await button(above).click();
    await said(above).waitFor();
    const back = new URL(above.url());
    expect(back.origin + back.pathname).to.equal(program().redirectUri);
    expect(back.searchParams.get('code')).to.match(/^lr1_/);
  });

  it('goes back to the program with access_denied after Cancel, and asks again', async () => {
    const page = await asked();
    const question = page.url();
    await page.getByRole('button', { name: 'Cancel' }).click();
    await page.getByRole('heading', { name: 'You can close this page' }).waitFor();
    expect(new URL(page.url()).searchParams.get('error')).to.equal('access_denied');
    await page.goto(question);
    expect(await page.getByRole('button').allInnerTexts()).to.deep.equal(['Continue', 'Cancel']);
  });

  it('is readable in light and dark colours, 320 and 1280 pixels wide', async () => {
    for (const look of looks) {
      await expectReadable(await asked(look), `consent-${look.colorScheme}`);
    }
  });
});
