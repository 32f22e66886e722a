import { type ChildProcess, spawn } from 'node:child_process';
import { Builder, By, Capabilities, error, Key, type WebDriver } from 'selenium-webdriver';
import { startBrowser } from '../../harness/browser/start-browser.ts';
import { freePort } from '../../harness/system/free-port.ts';
import { type Engine, type Tab, until } from './engine.ts';

const miniBrowser = process.env['MINIBROWSER'] ?? '/usr/lib/x86_64-linux-gnu/webkit2gtk-4.1/MiniBrowser';

/** WebKitGTK, over WebDriver: one visitor at a time. */
export const webkit: Engine = {
  name: 'WebKitGTK',
  // It takes each host below localhost for a site of its own, and drops the cookies of other sites.
  hostsOfSite: ['site.localhost', 'site.localhost'],
  async start() {
    port = await freePort();
    service = spawn('xvfb-run', ['-a', 'WebKitWebDriver', `--port=${port}`], {
      stdio: 'ignore',
      detached: true,
    });
    service.on('error', () => {});
    await until('WebKitWebDriver answers', async () => {
      const { ok } = await fetch(`http://127.0.0.1:${port}/status`);
      return ok;
    });
  },
  async newVisitor() {
    const capabilities = new Capabilities({
      browserName: 'MiniBrowser',
      acceptInsecureCerts: true,
      'webkitgtk:browserOptions': { binary: miniBrowser, args: ['--automation'] },
    });
    const builder = new Builder().usingServer(`http://127.0.0.1:${port}`).withCapabilities(capabilities);
    const driver = await startBrowser(async () => await builder.build());
    // A page whose loading does not go on is opened again.
    await driver.manage().setTimeouts({ pageLoad: 10_000 });
    const inTurn = turns();
    let used = false;
    return {
      openTab: () =>
        inTurn(async () => {
          if (used) await driver.switchTo().newWindow('tab');
          used = true;
          return tab(driver, await driver.getWindowHandle(), inTurn);
        }),
      async popup(act) {
        const before = new Set(await inTurn(() => driver.getAllWindowHandles()));
        await act();
        let opened: string | undefined;
        await until('a window opens', async () => {
          const handles = await inTurn(() => driver.getAllWindowHandles());
          opened = handles.find((handle) => !before.has(handle));
          return opened !== undefined;
        });
        return tab(driver, opened ?? '', inTurn);
      },
      leave: () => driver.quit(),
    };
  },
  async stop() {
    // It uses the display of xvfb-run.
    if (service?.pid !== undefined) process.kill(-service.pid);
  },
};

let port = 0;
let service: ChildProcess | undefined;

type InTurn = <T>(task: () => Promise<T>) => Promise<T>;

/** WebDriver has one current window. This switches to another one for the whole of an action. */
function turns(): InTurn {
  let last: Promise<unknown> = Promise.resolve();
  return (task) => {
    const result = last.then(task);
    last = result.catch(() => {});
    return result;
  };
}

/** A click counts although the page that it opens is still loading. Another one might press what that page has. */
function ignoreSlowPage(reason: unknown): void {
  if (!(reason instanceof error.TimeoutError)) throw reason;
}

function tab(driver: WebDriver, handle: string, inTurn: InTurn): Tab {
  const here: InTurn = (task) =>
    inTurn(async () => {
      await driver.switchTo().window(handle);
      return await task();
    });
  const find = async (selector: string) => {
    const [element] = await driver.findElements(By.css(selector));
    return element !== undefined && (await element.isDisplayed()) ? element : undefined;
  };
  /** Retries while the page changes. */
  const eventually = (what: string, act: () => Promise<boolean>) => until(what, () => here(act));
  return {
    open: (url) =>
      eventually(`${url} is loaded`, async () => {
        await driver.get(url);
        return true;
      }),
    click: (selector) =>
      eventually(`${selector} is clicked`, async () => {
        const element = await find(selector);
        await element?.click().catch(ignoreSlowPage);
        return element !== undefined;
      }),
    type: (selector, text) =>
      eventually(`${selector} is filled in`, async () => {
        const element = await find(selector);
        await element?.clear();
        await element?.sendKeys(text);
        return element !== undefined;
      }),
    shows: (selector, text) =>
      eventually(`${selector} shows ${text}`, async () =>
        Boolean((await (await find(selector))?.getText())?.includes(text)),
      ),
    press: (key) =>
      here(() =>
        driver
          .actions()
          .sendKeys(key === 'Tab' ? Key.TAB : Key.ENTER)
          .perform(),
      ),
    resize: (width, height) => here(async () => void (await driver.manage().window().setRect({ width, height }))),
    value: (expression) => here(() => driver.executeScript(`return ${expression}`)),
    url: () => here(() => driver.getCurrentUrl()),
    back: () => here(() => driver.navigate().back()),
    arrives: (url) => eventually(`${url} opens`, async () => (await driver.getCurrentUrl()).startsWith(url)),
  };
}
