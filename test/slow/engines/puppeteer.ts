import puppeteer, { type Browser, type LaunchOptions, type Page } from 'puppeteer-core';
import { startBrowser } from '../../harness/browser/start-browser.ts';
import { type Engine, patience, type Tab, until } from './engine.ts';

/** Chromium, over its own protocol. */
export const chromium = engine('Chromium', {
  browser: 'chrome',
  executablePath: process.env['CHROMIUM'] ?? '/usr/bin/chromium',
  args: ['--no-sandbox', '--disable-gpu', '--no-first-run', '--disable-background-networking'],
});

/** Firefox, over WebDriver BiDi. */
export const firefox = engine('Firefox', {
  browser: 'firefox',
  executablePath: process.env['FIREFOX'] ?? '/usr/bin/firefox-esr',
});

function engine(name: string, options: LaunchOptions): Engine {
  let browser: Browser | undefined;
  return {
    name,
    hostsOfSite: ['app.site.localhost', 'login.site.localhost'],
    async start() {
      const all = { ...options, acceptInsecureCerts: true, timeout: patience };
      browser = await startBrowser(() => puppeteer.launch(all));
    },
    async newVisitor() {
      if (browser === undefined) throw new Error(`${name} has not started`);
      const context = await browser.createBrowserContext();
      return {
        openTab: async () => tab(await context.newPage()),
        async popup(act) {
          const before = new Set(await context.pages());
          await act();
          let opened: Page | undefined;
          await until('a window opens', async () => {
            opened = (await context.pages()).find((page) => !before.has(page));
            return opened !== undefined;
          });
          if (opened === undefined) throw new Error('no window has opened');
          return tab(opened);
        },
        leave: () => context.close(),
      };
    },
    async stop() {
      await browser?.close();
    },
  };
}

function tab(page: Page): Tab {
  page.setDefaultTimeout(patience);
  return {
    open: async (url) => void (await page.goto(url)),
    // A tab in the background is not painted, so its elements cannot be clicked.
    async click(selector) {
      await page.bringToFront();
      await page.locator(selector).click();
    },
    async type(selector, text) {
      await page.bringToFront();
      await page.locator(selector).fill(text);
    },
    async shows(selector, text) {
      await until(`${selector} shows ${text}`, async () => {
        const shown = await page.evaluate(`document.querySelector(${JSON.stringify(selector)})?.innerText`);
        return `${shown}`.includes(text);
      });
    },
    async press(key) {
      await page.bringToFront();
      await page.keyboard.press(key);
    },
    resize: (width, height) => page.setViewport({ width, height }),
    value: (expression) => page.evaluate(expression),
    // The address that the driver knows may be an earlier address.
    url: async () => `${await page.evaluate('location.href')}`,
    back: async () => void (await page.evaluate('void setTimeout(() => history.back())')),
    arrives: (url) => until(`${url} opens`, async () => page.url().startsWith(url)),
  };
}
