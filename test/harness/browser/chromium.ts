import { existsSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import {
  type Browser,
  type BrowserContext,
  type BrowserContextOptions,
  chromium,
  type LaunchOptions,
  type Page,
} from 'playwright-core';
import { needs } from '../system/needs.ts';
import { startBrowser } from './start-browser.ts';

/** The complete browser, because the headless shell keeps no pages for the back button. */
export const wholeBrowser = process.env['CHROMIUM'] ?? '/usr/bin/chromium';
/** Chromium without the windows of a desktop, which is the same engine and starts in half the time. */
const headlessShell = '/usr/bin/chromium-headless-shell';

const executablePath = process.env['CHROMIUM'] ?? (existsSync(headlessShell) ? headlessShell : wholeBrowser);
const screenshots = process.env['SCREENSHOTS'];

/** Declares tests that need Chromium. */
export const needsChromium = () => needs(`Chromium at ${executablePath} (or CHROMIUM)`, existsSync(executablePath));

type Launch = Pick<LaunchOptions, 'args' | 'executablePath' | 'ignoreDefaultArgs'>;

/** The most milliseconds that a page of a busy machine may take for an action. */
const patience = 100_000;

/** The browser of all suites of this process that need no special options. It ends with the process. */
let shared: Promise<Browser> | undefined;

/**
 * Launches Chromium, once for all suites of this process.
 *
 * @param special options that differ from Playwright's defaults; the suite then gets its own browser
 * @returns a function that opens a page in a new context
 */
export function useBrowser(special?: () => Launch): (options?: BrowserContextOptions) => Promise<Page> {
  let browser: Browser | undefined;

  before('Chromium starts', async () => {
    if (special === undefined) shared ??= launch();
    browser = await (special === undefined ? shared : launch(special()));
  });

  afterEach('its pages close', async () => {
    await Promise.all((browser?.contexts() ?? []).map((context) => context.close()));
  });

  after('Chromium ends', async () => {
    if (special !== undefined) await browser?.close();
  });

  return async (options) => {
    if (browser === undefined) throw new Error('Chromium has not started yet');
    const context = await browser.newContext(options);
    context.setDefaultTimeout(patience);
    return await context.newPage();
  };
}

/** Launches Chromium, for a caller that closes it. */
export async function launch({ args = [], ...others }: Launch = {}): Promise<Browser> {
  const quiet = [
    '--no-sandbox',
    '--disable-gpu',
    '--disable-quic',
    '--no-first-run',
    '--disable-background-networking',
    '--disable-component-update',
    '--disable-sync',
  ];
  const options = { executablePath, timeout: patience, ...others, args: [...quiet, ...args] };
  return await startBrowser(() => chromium.launch(options));
}

/**
 * Launches the whole browser with a profile of its own, for a caller that closes it.
 *
 * @param profile its folder, or an empty text for a temporary folder
 */
export async function launchWithProfile(
  profile: string,
  options: Pick<LaunchOptions, 'args' | 'headless'>,
): Promise<BrowserContext> {
  const all = { executablePath: wholeBrowser, timeout: patience, ...options };
  const context = await startBrowser(() => chromium.launchPersistentContext(profile, all));
  context.setDefaultTimeout(patience);
  return context;
}

/** Stops the time of a new page and of the windows that it opens. `page.clock.runFor` lets some of it pass. */
export async function stopTime(page: Page): Promise<void> {
  await page.clock.install({ time: 0 });
  await page.clock.pauseAt(3_600_000);
}

/** Saves a screenshot under that name in the directory `$SCREENSHOTS`, if it is set. */
export async function screenshot(page: Page, name: string): Promise<void> {
  if (screenshots === undefined) return;
  await mkdir(screenshots, { recursive: true });
  await page.screenshot({ path: join(screenshots, `${name}.png`), fullPage: true });
}

/** Light and wide, dark and narrow: pixels of a desktop and a small phone. */
export const looks = [
  { colorScheme: 'light', viewport: { width: 1280, height: 740 } },
  { colorScheme: 'dark', viewport: { width: 320, height: 640 } },
] as const;

/**
 * Checks that the page cannot be scrolled sideways, and that every visible text has the contrast of WCAG 2.2's AA level
 * (1.4.3). Saves a screenshot under this name, see {@link screenshot}.
 */
export async function expectReadable(page: Page, name: string): Promise<void> {
  await screenshot(page, name);
  const { scrollWidth, clientWidth } = Object(
    await page.evaluate('(({ scrollWidth, clientWidth }) => ({ scrollWidth, clientWidth }))(document.documentElement)'),
  );
  expect(scrollWidth, name).to.be.at.most(clientWidth);
  expect(await page.evaluate(findLowContrast), name).to.deep.equal([]);
}

// A string, because the project's types know no DOM.
const findLowContrast = `(() => {
  const channels = (color) => color.match(/[\\d.]+/g).map(Number);
  const luminance = (rgb) => {
    const [r, g, b] = rgb.slice(0, 3).map((c) => {
      const s = c / 255;
      return s <= 0.04045 ? s / 12.92 : ((s + 0.055) / 1.055) ** 2.4;
    });
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const backgroundOf = (element) => {
    for (let e = element; e; e = e.parentElement) {
      const rgb = channels(getComputedStyle(e).backgroundColor);
      if (rgb.length === 3) return rgb;
      if (rgb[3] > 0) throw new Error('a translucent background cannot be judged');
    }
    throw new Error('nothing has a background');
  };
  const found = [];
  for (const element of document.querySelectorAll('body *')) {
    const own = [...element.childNodes].some((n) => n.nodeType === 3 && n.data.trim());
    if (!own || !element.checkVisibility() || element.closest('[aria-hidden]')) continue;
    if (element.matches('script, noscript, [role=status]')) continue;
    const style = getComputedStyle(element);
    const size = parseFloat(style.fontSize);
    const large = size >= 24 || (size >= 18.66 && Number(style.fontWeight) >= 700);
    const ofText = luminance(channels(style.color));
    const ofBackground = luminance(backgroundOf(element));
    const ratio = (Math.max(ofText, ofBackground) + 0.05) / (Math.min(ofText, ofBackground) + 0.05);
    if (ratio < (large ? 3 : 4.5)) {
      found.push(element.textContent.trim() + ': ' + ratio.toFixed(2));
    }
  }
  return found;
})()`;
