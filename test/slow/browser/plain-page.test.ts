import { expect } from 'chai';
import type { Page } from 'playwright-core';
import { needsChromium, useBrowser } from '../../harness/browser/chromium.ts';
import { plainPage } from '../../harness/project/shipped-pages.ts';
import { authorize, startLogin, useLoginSite } from '../../harness/relay/login-site.ts';

const { describe } = needsChromium();

describe('the example contract in Chromium', () => {
  const openPage = useBrowser();
  const site = useLoginSite({ frontEnd: plainPage });

  async function openFrontEnd(path = '/'): Promise<{ page: Page; complaints: string[] }> {
    const page = await openPage();
    const complaints: string[] = [];
    page.on('pageerror', (error) => complaints.push(error.message));
    await page.goto(site().frontEnd + path);
    return { page, complaints };
  }

  async function logIn(page: Page): Promise<void> {
    await startLogin(page);
    await authorize(page, 'Ada Lovelace');
    await page.getByText('Hello, ').waitFor();
  }

  const button = (page: Page) => page.getByRole('button', { name: 'Log in' });
  const stored = (page: Page) => page.evaluate('({ ...sessionStorage })');

  it('shows the button again and drops the token if the token is refused', async () => {
    const { page, complaints } = await openFrontEnd();
    await page.evaluate(`sessionStorage.setItem('state', 'mine')`);
    await page.goto(`${site().frontEnd}/?access_token=made-up&state=mine&tab=2`);
    await button(page).waitFor();
    expect(page.url()).to.equal(`${site().frontEnd}/?tab=2`);
    expect(await stored(page)).to.deep.equal({});
    await logIn(page);
    await page.evaluate(`sessionStorage.setItem('token', 'made-up')`);
    await page.reload();
    await button(page).waitFor();
    expect(await stored(page)).to.deep.equal({});
    expect(complaints).to.deep.equal([]);
  });
});
