import { hash } from 'node:crypto';
import { expect } from 'chai';
import type { Page } from 'playwright-core';
import { needsChromium, useBrowser } from '../../harness/browser/chromium.ts';
import { FakeBrowser, formWith } from '../../harness/browser/fake-browser.ts';
import { signIn } from '../../harness/provider/certified-provider.ts';
import { startLogIn } from './support/client-page.ts';
import { useLibrarySite } from './support/site.ts';

const { describe } = needsChromium();

const attackersVerifier = 'v'.repeat(43);

const library = 'oidc-client-ts';

describe(`an address with a code, at a page with ${library}`, () => {
  const openPage = useBrowser();
  const site = useLibrarySite(library, { 'refresh-tokens': 'bearer' });
  const greeting = 'Hello, The person ada';

  /** Logs in, and returns the address with the code as the browser's history has it. */
  async function loggedIn(): Promise<{ page: Page; address: string }> {
    const page = await openPage();
    let address = '';
    page.on('request', (request) => {
      if (request.url().startsWith(`${site().frontEnd}/?code=`)) address = request.url();
    });
    await page.goto(site().frontEnd);
    await startLogIn(page, 'ada');
    await page.getByText(greeting).waitFor();
    return { page, address };
  }

  /** Redeems the code as somebody who has only read the address. */
  async function redeem(address: string) {
    const form = {
      grant_type: 'authorization_code',
      client_id: 'app',
      code: new URL(address).searchParams.get('code') ?? '',
      code_verifier: attackersVerifier,
      redirect_uri: `${site().frontEnd}/`,
    };
    const path = '/auth/provider/token';
    const { status, body } = await site().relay.send({ path, ...formWith(form) });
    return { status, error: JSON.parse(`${body}`).error };
  }

  /** The address of a login that an attacker has finished up to the front end. */
  async function attackersAddress(): Promise<string> {
    const browser = new FakeBrowser(undefined, { frontEnd: site().frontEnd });
    const start = new URL(`${site().relayUrl}/auth/provider`);
    start.search = `${new URLSearchParams({
      response_type: 'code',
      client_id: 'app',
      redirect_uri: `${site().frontEnd}/`,
      state: 'of-the-attacker',
      code_challenge: hash('sha256', attackersVerifier, 'base64url'),
      code_challenge_method: 'S256',
    })}`;
    return (await signIn(browser, await browser.visit(start.href), 'eve')).url.href;
  }

  it('does not log in in another browser', async () => {
    const { page, address } = await loggedIn();
    const calls = site().provider.tokenRequests.length;
    const thief = await openPage();
    await thief.goto(address);
    await thief.getByText('Nobody').waitFor();
    expect(await redeem(address)).to.deep.equal({ status: 400, error: 'invalid_grant' });
    expect(site().provider.tokenRequests).to.have.lengthOf(calls);
    await page.reload();
    await page.getByText(greeting).waitFor();
  });

  it('does not log in as the attacker if an attacker has sent it as a link', async () => {
    const address = await attackersAddress();
    const page = await openPage();
    await page.goto(address);
    await page.getByText('Nobody').waitFor();
    const { page: victim } = await loggedIn();
    await victim.goto(address);
    await victim.getByText(greeting).waitFor();
    expect((await redeem(address)).status, 'the code itself was good').to.equal(200);
  });

  it('cannot replace the code of a login in flight, because the verifier does not match', async () => {
    const address = new URL(await attackersAddress());
    const page = await openPage();
    let state = '';
    page.on('request', (request) => {
      const url = new URL(request.url());
      if (url.pathname === '/auth/provider') state = url.searchParams.get('state') ?? '';
    });
    await page.goto(site().frontEnd);
    await page.getByRole('button', { name: 'Log in' }).click();
    await page.getByPlaceholder('Enter any login').waitFor();
    // Even if the attacker knew the state.
    address.searchParams.set('state', state);
    const refused = page.waitForResponse(`${site().relayUrl}/auth/provider/token`);
    await page.goto(address.href);
    expect((await refused).status()).to.equal(400);
    expect(await (await refused).json()).to.include({ error: 'invalid_grant' });
    await page.getByText('Nobody').waitFor();
    expect(await page.getByRole('alert').textContent()).to.match(/invalid_grant|verifier|code/i);
  });
});
