// Writes the pictures of the README: the demo, logged in, and the page of a cancelled login. Needs Chromium.
// Usage: node scripts/screenshots.ts
import { pino } from 'pino';
import { startDemo } from '../src/demo/demo.ts';
import { demoPages } from '../src/demo/pages.ts';
import { launch } from '../test/harness/browser/chromium.ts';
import { authorize, startLogin } from '../test/harness/relay/login-site.ts';

const { oauth, contract } = demoPages;
const demo = await startDemo({ port: undefined }, pino({ enabled: false }));
const browser = await launch();
const startAt = async (path: string, width: number) => {
  // The pictures are as high as the pages, which are higher than this.
  const viewport = { width, height: 100 };
  const page = await browser.newPage({ colorScheme: 'light', viewport });
  await page.goto(demo.frontEndUrl + path);
  await startLogin(page);
  return page;
};
try {
  const wide = await startAt(oauth.path, 1100);
  await authorize(wide, 'Ada Lovelace');
  await wide.getByRole('button', { name: 'Log out' }).waitFor();
  await wide.locator(`#steps li:nth-child(${oauth.requests.length}):not(.soft)`).waitFor();
  await wide.screenshot({ path: 'docs/demo.png', fullPage: true });

  const narrow = await startAt(contract.path, 375);
  await narrow.getByRole('button', { name: 'Cancel' }).click();
  await narrow.getByRole('heading', { name: 'Login cancelled' }).waitFor();
  await narrow.screenshot({ path: 'docs/failure-page.png', fullPage: true });
} finally {
  await browser.close();
  await demo.close();
}
