import { expect } from 'chai';
import type { Page } from 'playwright-core';
import { needsChromium, screenshot, useBrowser } from '../../harness/browser/chromium.ts';
import { logIn, useFrontEndSite } from './support/front-end-site.ts';

const { describe } = needsChromium();
const library = 'react-oauth2-code-pkce';
const flags = { 'refresh-tokens': 'bearer' };
const stored = (name: string) => `JSON.parse(localStorage.getItem('ROCP_${name}'))`;

describe('react-oauth2-code-pkce in Chromium, in React’s StrictMode', () => {
  const openPage = useBrowser();
  const site = useFrontEndSite({ library, flags });

  async function loggedIn(login = 'ada'): Promise<Page> {
    const page = await openPage();
    await page.goto(site().frontEnd);
    await logIn(page, login);
    await page.getByText(`Hello, The person ${login}`).waitFor();
    return page;
  }

  it('logs in with a code and PKCE, which it redeems once', async () => {
    const calls = site().provider.tokenRequests.length;
    const page = await loggedIn();
    await screenshot(page, 'react-logged-in');
    expect(site().provider.tokenRequests.slice(calls)).to.have.lengthOf(1);
    expect(page.url()).to.equal(`${site().frontEnd}/`);
    expect(await page.getByRole('alert').textContent()).to.equal('');
  });

  it('keeps the refresh token as long as the relay says, not as long as the access token', async () => {
    const page = await loggedIn();
    const ends = Number(await page.evaluate(stored('refreshTokenExpire')));
    const days = (ends - Date.now() / 1000) / 86_400;
    expect(days).to.be.within(29.9, 30);
  });
});

describe('react-oauth2-code-pkce in Chromium, with a token that has expired', () => {
  const openPage = useBrowser();
  // The library takes a token for expired 30 seconds before its end.
  const site = useFrontEndSite({ library, flags, settings: 'tokenExpiresIn: 20,' });

  it('renews it when the page is loaded: StrictMode asks twice, the provider is called once', async () => {
    const page = await openPage();
    await page.goto(site().frontEnd);
    await logIn(page, 'ada');
    await page.getByText('Hello, The person ada').waitFor();
    const token = await page.evaluate(stored('token'));
    const calls = site().provider.tokenRequests.length;
    await page.reload();
    await page.waitForFunction(`${stored('token')} !== '${token}'`);
    await page.getByText('Hello, The person ada').waitFor();
    expect(site().provider.tokenRequests.slice(calls)).to.have.lengthOf(1);
    expect(page.url()).to.equal(`${site().frontEnd}/`);
  });
});
