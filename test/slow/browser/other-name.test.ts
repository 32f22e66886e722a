import { expect } from 'chai';
import { needsChromium, screenshot, useBrowser } from '../../harness/browser/chromium.ts';
import { authorize, useLoginSite } from '../../harness/relay/login-site.ts';

const { describe } = needsChromium();

describe('a login that starts under another name of the relay, in Chromium', () => {
  const openPage = useBrowser();
  const site = useLoginSite({ flags: { errorDelivery: 'page' } });

  it('fails with a page that names the base URL and links to a login there', async () => {
    const page = await openPage();
    const { port } = new URL(site().relay);
    await page.goto(`http://127.0.0.1:${port}/auth/provider`);
    await authorize(page, 'Ada Lovelace');
    await page.getByText(`did not start this login at ${site().relay}`).waitFor();
    await screenshot(page, 'failure-other-name');
    await page.getByRole('link', { name: 'Log in again' }).click();
    await page.waitForURL(`${site().provider}/login/*`);
    await authorize(page, 'Ada Lovelace');
    await page.waitForURL(`${site().frontEnd}/**`);
    const outcomes = site().callbacks.map(({ outcome }) => outcome);
    expect(outcomes).to.deep.equal(['state_unknown', 'ok']);
  });
});
