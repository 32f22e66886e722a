import { expect } from 'chai';
import type { Page } from 'playwright-core';
import { needsChromium, useBrowser } from '../../harness/browser/chromium.ts';
import { startLogIn } from './support/client-page.ts';
import { useLibrarySite } from './support/site.ts';

const { describe } = needsChromium();

describe('oidc-client-ts in Chromium, without OpenID, with DPoP', () => {
  const openPage = useBrowser();
  const site = useLibrarySite('oidc-client-ts');

  async function loggedIn(login = 'ada'): Promise<Page> {
    const page = await openPage();
    await page.goto(site().frontEnd);
    await startLogIn(page, login);
    await page.getByText(`Hello, The person ${login}`).waitFor();
    return page;
  }

  it('renews the token by its refresh token, and the user lookup accepts the new token', async () => {
    const page = await loggedIn();
    const calls = site().provider.tokenRequests.length;
    const tokens = [await page.evaluate('renew()'), await page.evaluate('renew()')];
    // A recent result is repeated.
    expect(new Set(tokens)).to.have.lengthOf(1);
    expect(site().provider.tokenRequests.slice(calls)).to.have.lengthOf(1);
    await page.reload();
    await page.getByText('Hello, The person ada').waitFor();
  });

  it('stores no refresh token that is worth anything without the key of this browser', async () => {
    const page = await loggedIn();
    const thief = await openPage();
    await thief.goto(site().frontEnd);
    const stored = await page.evaluate('JSON.stringify({ ...localStorage })');
    await thief.evaluate(`Object.assign(localStorage, ${stored})`);
    await thief.reload();
    const calls = site().provider.tokenRequests.length;
    const refused = await thief.evaluate('renew().then(() => "renewed", (error) => error.error)');
    expect(refused).to.equal('invalid_grant');
    expect(site().provider.tokenRequests).to.have.lengthOf(calls);
    expect(await page.evaluate('renew()')).to.be.a('string');
  });

  it('logs out, so that the tokens are revoked, and nothing is left in the page', async () => {
    const page = await loggedIn();
    const stored = String(await page.evaluate(`JSON.stringify({ ...localStorage })`));
    const token = /"access_token\\":\\"([^"\\]+)/.exec(stored)?.[1] ?? '';
    expect((await site().relay.userOf(token)).status).to.equal(200);
    await page.getByRole('button', { name: 'Log out' }).click();
    await page.getByText('Nobody').waitFor();
    expect((await site().relay.userOf(token)).status).to.equal(401);
    const left = await page.evaluate('Object.keys({ ...localStorage, ...sessionStorage })');
    expect(left).to.deep.equal([]);
  });
});

describe('react-oauth2-code-pkce in Chromium, in React’s StrictMode', () => {
  const openPage = useBrowser();
  const site = useLibrarySite(
    'react-oauth2-code-pkce',
    { 'refresh-tokens': 'bearer' },
    // The library takes a token for expired 30 seconds before its end.
    'tokenExpiresIn: 20,',
  );

  const stored = (name: string) => `JSON.parse(localStorage.getItem('ROCP_${name}'))`;

  it('redeems the code once, and renews an expired token once when the page is loaded', async () => {
    const calls = () => site().provider.tokenRequests.length;
    const page = await openPage();
    // The library also renews an expired token every few seconds.
    await page.clock.install({ time: Date.now() - 120_000 });
    await page.clock.pauseAt(Date.now() - 60_000);
    await page.goto(site().frontEnd);
    const before = calls();
    await startLogIn(page, 'ada');
    await page.getByText('Hello, The person ada').waitFor();
    expect(calls()).to.equal(before + 1);
    expect(page.url()).to.equal(`${site().frontEnd}/`);
    expect(await page.getByRole('alert').textContent()).to.equal('');
    // As long as the relay says, not as long as the access token.
    const ends = Number(await page.evaluate(stored('refreshTokenExpire')));
    expect((ends - Date.now() / 1000) / 86_400).to.be.within(29.9, 30);

    const token = await page.evaluate(stored('token'));
    await page.reload();
    await page.waitForFunction(`${stored('token')} !== '${token}'`);
    await page.getByText('Hello, The person ada').waitFor();
    expect(calls()).to.equal(before + 2);
    expect(page.url()).to.equal(`${site().frontEnd}/`);
  });
});
