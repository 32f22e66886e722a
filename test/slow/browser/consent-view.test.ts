import { expect } from 'chai';
import type { Page } from 'playwright-core';
import { askingProgram } from '../../clients/support/asking-program.ts';
import { needsChromium, screenshot, stopTime, useBrowser } from '../../harness/browser/chromium.ts';
import { eventually } from '../../harness/system/eventually.ts';

const { describe } = needsChromium();

const scope = 'read:user user:email read:org repo offline_access';
const button = (page: Page) => page.getByRole('button', { name: 'Continue' });
const scrolled = async (page: Page) => Number(await page.evaluate('scrollY'));
const unread = (page: Page) => page.getByText('This was not in view yet.');
const done = (page: Page) => page.getByRole('heading', { name: 'You can close this page' }).waitFor();

/** Resolves once the page has been at rest for two frames, so that its script knows of every jump. */
async function rest(page: Page): Promise<void> {
  const body = await page.waitForSelector('body');
  await body.waitForElementState('stable');
}

/** Lets a person wait for a second, in a page whose time is in the hands of the test. */
async function wait(page: Page): Promise<void> {
  await rest(page);
  await page.clock.runFor(1000);
}

/** Turns the mouse wheel in a page that can still be scrolled down, and waits until the page is at rest. */
async function turnWheel(page: Page, distance: number): Promise<void> {
  await page.evaluate(`void (window.atRest = new Promise((done) => {
    addEventListener('scrollend', () => done(), { once: true });
  }))`);
  await page.mouse.wheel(0, distance);
  await page.evaluate('atRest');
}

/** An unhurried press with the mouse on *Continue*, where the page has been scrolled to. */
async function pressUnhurried(page: Page, pause = wait): Promise<void> {
  const box = await button(page).boundingBox();
  if (box === null) throw new Error('there is no button');
  const x = box.x + box.width / 2;
  const y = box.y + 10;
  for (const step of [8, 4, 0]) await page.mouse.move(x + step, y);
  await pause(page);
  await page.mouse.click(x, y);
}

/** Expects that a press has not counted, and that the page shows what is left to read, and says so. */
async function expectSentBack(page: Page): Promise<void> {
  await unread(page).waitFor();
  expect(await unread(page).boundingBox())
    .to.have.property('y')
    .within(0, 170);
  expect(await button(page).count()).to.equal(1);
}

/** The same after a further press. What was in view for a second, as the words may have been, need not be again. */
async function expectSentOn(page: Page): Promise<void> {
  const left = page.locator('[data-asked]:focus').filter({ has: unread(page) });
  await left.waitFor();
  const { y, height } = (await left.boundingBox()) ?? { y: 0, height: 0 };
  expect(y).to.be.below(Number(await page.evaluate('innerHeight')));
  expect(y + height).to.be.above(0);
  expect(await button(page).count()).to.equal(1);
}

describe('a question whose content another site keeps out of view, in Chromium', () => {
  const openPage = useBrowser();
  const program = askingProgram({ scope, pages: { '/attack': '<button>Free sample</button>' } });

  /** Opens the question as another site does: in a small window, after a click. */
  async function attacked(fragment: string, features: string): Promise<Page> {
    const page = await openPage({ viewport: null });
    await stopTime(page);
    await page.goto(`${program().relay.provider.origin}/attack`);
    const url = (await program().question()) + fragment;
    await page.evaluate(`void (document.querySelector('button').onclick =
      () => open(${JSON.stringify(url)}, 'attack', '${features}'))`);
    const [popup] = await Promise.all([page.context().waitForEvent('page'), page.getByRole('button').click()]);
    await popup.waitForLoadState();
    await rest(popup);
    return popup;
  }

  /** As a browser that does not know this header, such as Firefox and Safari. */
  function dropDocumentPolicy(): void {
    program().relay.intercept = (_, response) => {
      const { setHeader } = response;
      response.setHeader = (name, value) =>
        name === 'Document-Policy' ? response : setHeader.call(response, name, value);
      return false;
    };
  }

  afterEach(() => {
    program().relay.intercept = () => false;
  });

  for (const fragment of ['#:~:text=Cancel', '#:~:text=Continue%20only,Cancel', '#:~:text=program.']) {
    const features = 'noopener,width=420,height=170';

    it(`loads at the top at ${fragment}`, async () => {
      const popup = await attacked(fragment, features);
      expect(await scrolled(popup)).to.equal(0);
    });

    it(`takes no unhurried press at ${fragment} where text fragments scroll`, async () => {
      dropDocumentPolicy();
      const popup = await attacked(fragment, features);
      await eventually(async () => expect(await scrolled(popup)).to.be.above(200));
      await rest(popup);
      await pressUnhurried(popup);
      await expectSentBack(popup);
      expect(await scrolled(popup)).to.be.below(100);
    });
  }

  it('takes no Tab and Enter, and the next Enter presses nothing', async () => {
    const popup = await attacked('', 'width=420,height=120');
    await wait(popup);
    const presses = [
      { press: 'Enter', isSent: expectSentBack },
      { press: 'Enter', isSent: expectSentOn },
      { press: 'Space', isSent: expectSentOn },
    ];
    for (const { press, isSent } of presses) {
      if (press !== 'Space') await popup.keyboard.press('Tab');
      await wait(popup);
      await popup.keyboard.press(press);
      await isSent(popup);
      await popup.keyboard.press('Enter');
    }
    await screenshot(popup, 'consent-unread-420x120');
  });
});

describe('a question that a person reads, in Chromium', () => {
  const openPage = useBrowser();
  const program = askingProgram({ scope });

  async function asked(width: number, height: number, prepare = stopTime): Promise<Page> {
    const page = await openPage({ viewport: { width, height } });
    await prepare(page);
    await page.addInitScript(`
      addEventListener('click', ({ target }) => console.log(target.value === 'confirmed' ? 'taken' : 'not taken'));
    `);
    await page.goto(await program().question());
    return page;
  }

  /** Whether the page takes this press on *Continue*. The answer is then on its way, and another press would spoil it. */
  async function isTaken(page: Page, press: Promise<unknown>): Promise<boolean> {
    const said = page.waitForEvent('console', (message) => message.text().endsWith('taken'));
    await press;
    return (await said).text() === 'taken';
  }

  it('is read in its order, and only its answers have the focus', async () => {
    const page = await asked(800, 900);
    const tree = await page.locator('body').ariaSnapshot();
    const lines = ['heading "Let a program log in as you?"', 'term: Who asks', 'term: Where your login goes'];
    const all = [...lines, 'term: Your account at', 'term: What it asks for', 'Continue only', 'button "Continue"'];
    const places = [...all, 'button "Cancel"'].map((line) => tree.indexOf(line));
    expect(places, tree).to.not.include(-1);
    expect(places).to.deep.equal(places.toSorted((a, b) => a - b));
    const focused: unknown[] = [];
    for (let presses = 0; presses < 2; presses += 1) {
      await page.keyboard.press('Tab');
      focused.push(await page.evaluate('document.activeElement.innerText'));
    }
    expect(focused).to.deep.equal(['Continue', 'Cancel']);
  });

  // The last one is 1280 × 720, magnified five times.
  const sizes = [
    [1280, 900],
    [768, 1024],
    [390, 844],
    [320, 568],
    [420, 170],
    [256, 144],
  ] as const;
  for (const [width, height] of sizes) {
    it(`is answered with the mouse wheel at ${width}×${height}`, async () => {
      const page = await asked(width, height);
      await screenshot(page, `consent-${width}x${height}`);
      // The mouse may be elsewhere while somebody reads.
      await wait(page);
      await readOn(page);
      await pressUnhurried(page);
      await done(page);
    });

    it(`is answered with Tab and Enter at ${width}×${height}, which show what is left to read`, async () => {
      const page = await asked(width, height);
      let isSentBack = false;
      await pressUntilTaken(page, async () => {
        isSentBack ||= await unread(page).isVisible();
        await page.keyboard.press('Tab');
        await rest(page);
        await page.keyboard.press('Enter');
      });
      await done(page);
      expect(isSentBack).to.equal(height < 800);
    });
  }

  /** Reads on with the mouse wheel, down to *Continue*. */
  async function readOn(page: Page, pause = wait): Promise<void> {
    const { width, height } = page.viewportSize() ?? { width: 0, height: 0 };
    await page.mouse.move(width / 2, height / 2);
    while (!(await isInView(page))) {
      await turnWheel(page, height / 2);
      await pause(page);
    }
  }

  /** Presses again after a second, as long as the page sends its reader back. */
  async function pressUntilTaken(page: Page, press: () => Promise<unknown>, pause = wait): Promise<void> {
    for (let presses = 0; presses < 30; presses += 1) {
      await pause(page);
      if (await isTaken(page, press())) return;
    }
    throw new Error('the page takes no press');
  }

  it('is answered in real time', async () => {
    const page = await asked(420, 170, async () => {});
    const aSecond = (one: Page) => one.waitForTimeout(1100);
    // A busy machine may show a line later than it scrolls, or take the pointer for new. Then a person reads on.
    await pressUntilTaken(
      page,
      async () => {
        await readOn(page, aSecond);
        await pressUnhurried(page, aSecond);
      },
      aSecond,
    );
    await done(page);
  });

  it('is answered by a program that presses for a person, after it has shown all lines', async () => {
    const page = await asked(420, 170);
    await pressUntilTaken(page, () => page.evaluate(`document.querySelector('[value=continue]').click()`));
    await done(page);
  });

  it('is answered after the pointer has come from the scroll bar', async () => {
    const page = await asked(420, 400);
    await page.mouse.move(200, 200);
    await wait(page);
    await turnWheel(page, 2000);
    await wait(page);
    const event = `new PointerEvent('pointerenter', { pointerType: 'mouse' })`;
    await page.evaluate(`void document.documentElement.dispatchEvent(${event})`);
    await pressUnhurried(page);
    await done(page);
  });

  for (const width of [100, 200]) {
    it(`is cut off at no side of a window of ${width} pixels, whatever the program calls itself`, async () => {
      const page = await openPage({ viewport: { width, height: 400 } });
      const scheme = `com.${'example'.repeat(20)}:/in`;
      const host = `https://${'accounts-google-com'.repeat(3)}.${'a'.repeat(63)}.example.com/in`;
      for (const redirect_uri of [scheme, host]) {
        for (const client_name of ['W'.repeat(200), '\ufdfd'.repeat(40)]) {
          await page.goto(await program().question({ client_name, redirect_uris: [redirect_uri] }));
          await screenshot(page, `consent-narrow-${width}`);
          const cut = await page.evaluate(`Array.from(document.querySelectorAll('main, main *'))
            .filter((one) => one.checkVisibility() && one.scrollWidth > one.clientWidth + 1 && one.clientWidth > 0)
            .map(({ tagName, scrollWidth, clientWidth }) => [tagName, scrollWidth, clientWidth])`);
          expect(cut).to.deep.equal([]);
        }
      }
    });
  }

  it('keeps the owner of a host on one line, and each answer', async () => {
    const page = await openPage({ viewport: { width: 320, height: 800 } });
    const host = 'https://accounts.google.com.evil.example:8443/in';
    await page.goto(await program().question({ redirect_uris: [host] }));
    expect(await page.getByText('evil.example:8443', { exact: true }).count()).to.equal(1);
    const linesOf = `([...document.querySelectorAll('dd b, button')].map((element) => {
      const range = document.createRange();
      range.selectNodeContents(element);
      return new Set([...range.getClientRects()].map(({ top }) => top)).size;
    }))`;
    expect(await page.evaluate(linesOf)).to.deep.equal([1, 1, 1]);
  });

  it('is answered after its window has become lower, as a browser with bars makes it', async () => {
    const page = await asked(390, 520);
    await page.mouse.move(200, 200);
    await wait(page);
    await turnWheel(page, 2000);
    await wait(page);
    await page.setViewportSize({ width: 390, height: 460 });
    await eventually(async () => expect(await page.evaluate('innerHeight')).to.equal(460));
    await rest(page);
    await turnWheel(page, 2000);
    await pressUnhurried(page);
    await done(page);
  });

  async function isInView(page: Page): Promise<boolean> {
    const box = await button(page).boundingBox();
    const height = page.viewportSize()?.height ?? 0;
    return box !== null && box.y + 20 < height;
  }
});
