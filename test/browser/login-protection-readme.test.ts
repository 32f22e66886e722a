import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import type { Page } from 'playwright-core';
import { screenshot, useBrowser } from '../support/browser.ts';
import { authorize, startLogin, useLoginSite } from '../support/login-site.ts';

const readme = readFileSync(new URL('../../README.md', import.meta.url), 'utf8');

/** The README's script as a page of its own, with the relay's address in its place. */
function page(relay: string): string {
  const [, script = ''] = /^ *```js\n(.*?)^ *```$/ms.exec(readme) ?? [];
  const address = `'https://login.example.com'`;
  if (script.split(address).length !== 2) throw new Error('the README has no script to try');
  return `<!doctype html><title>Front end</title><body><script type="module">
${script.replace(address, `'${relay}'`)}</script>`;
}

describe('the README’s JavaScript in Chromium', () => {
  const openPage = useBrowser();
  const site = useLoginSite({ frontEnd: page });

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

  const link = (page: Page) => page.getByRole('link', { name: 'Log in' });
  const stored = (page: Page) => page.evaluate('({ ...sessionStorage })');

  it('logs a person in, and takes the token off the address bar', async () => {
    const { page, complaints } = await openFrontEnd();
    await link(page).waitFor();
    await logIn(page);
    expect(await page.locator('body').textContent()).to.equal('Hello, ada-lovelace');
    expect(page.url()).to.equal(`${site().frontEnd}/`);
    expect(await stored(page)).to.have.all.keys('token');
    expect(complaints).to.deep.equal([]);
    await screenshot(page, 'readme-logged-in');
  });

  it('keeps the login over a reload', async () => {
    const { page, complaints } = await openFrontEnd();
    await logIn(page);
    await page.reload();
    await page.getByText('Hello, ada-lovelace').waitFor();
    expect(site().tokenCalls).to.have.length(1);
    expect(complaints).to.deep.equal([]);
  });

  it('shows the link again, and keeps no token, where the token is refused', async () => {
    const { page, complaints } = await openFrontEnd('/?access_token=made-up&tab=2');
    await link(page).waitFor();
    expect(page.url()).to.equal(`${site().frontEnd}/?tab=2`);
    expect(await stored(page)).to.deep.equal({});
    await logIn(page);
    await page.evaluate(`sessionStorage.setItem('token', 'made-up')`);
    await page.reload();
    await link(page).waitFor();
    expect(await stored(page)).to.deep.equal({});
    expect(complaints).to.deep.equal([]);
  });
});
