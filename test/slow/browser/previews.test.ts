import { expect } from 'chai';
import type { Page } from 'playwright-core';
import { needsChromium, useBrowser } from '../../harness/browser/chromium.ts';
import { formWith } from '../../harness/browser/fake-browser.ts';
import { libraryExample } from '../../harness/project/shipped-pages.ts';
import { sendFrom, useSite } from '../front-end/support/site.ts';

const { describe } = needsChromium();

describe('previews of a page, in Chromium', () => {
  const site = useSite({
    https: 'both',
    pages: (relayUrl) => sendFrom(libraryExample(relayUrl)),
    flags: {
      origin: 'https://*.preview.example.com',
      'token-delivery': 'code',
      'refresh-tokens': 'bearer',
    },
  });
  // Any host shows the page.
  const openBrowser = useBrowser(() => {
    const rules = ['*.example.com', 'evil.example'].map(
      (host) => `MAP ${host} 127.0.0.1:${site().frontEndPort}`,
    );
    return { args: [`--host-resolver-rules=${rules.join()}`] };
  });

  const says = (page: Page, text: string) => page.getByText(text, { exact: true }).waitFor();
  const loggedIn = (page: Page) => says(page, 'Hello, The person ada');
  const loggedOut = (page: Page) => says(page, 'You are not logged in.');
  const calls = () => site().provider.tokenRequests.length;
  const tokenUrl = () => `${site().relayUrl}/auth/provider/token`;

  async function openPreview(host: string, at?: Page): Promise<Page> {
    const page =
      (await at?.context().newPage()) ?? (await openBrowser({ ignoreHTTPSErrors: true }));
    await page.goto(`https://${host}/`);
    await loggedOut(page);
    return page;
  }

  async function logIn(page: Page): Promise<void> {
    await page.getByRole('button', { name: 'Log in' }).click();
    await page.getByPlaceholder('Enter any login').fill('ada');
    await page.getByPlaceholder('and password').fill('any');
    await page.getByRole('button', { name: 'Sign-in' }).click();
    await page.getByRole('button', { name: 'Continue' }).click();
    await loggedIn(page);
  }

  /** The answer to the next request for a token. */
  async function tokensDuring(page: Page, action: () => Promise<void>) {
    const answer = page.waitForResponse(
      // The one before may have asked for a nonce.
      (one) => one.url() === tokenUrl() && one.request().method() === 'POST' && one.ok(),
    );
    await action();
    const tokens: unknown = await (await answer).json();
    expect(tokens).to.be.an('object');
    return { ...(tokens as object) };
  }

  it('log in each for itself, and stay logged in over a reload', async () => {
    const one = await openPreview('pull-7.preview.example.com');
    await logIn(one);
    expect(one.url()).to.equal('https://pull-7.preview.example.com/');
    const other = await openPreview('pull-8.preview.example.com', one);
    await other.getByRole('button', { name: 'Log in' }).click();
    // The provider knows the person already.
    await other.getByRole('button', { name: 'Continue' }).click();
    await loggedIn(other);
    expect(other.url()).to.equal('https://pull-8.preview.example.com/');
    const before = calls();
    for (const page of [one, other]) {
      await page.reload();
      await loggedIn(page);
    }
    expect(calls()).to.equal(before + 2);
  });

  it('get a refresh token that is worth nothing without their key', async () => {
    const page = await openPreview('pull-7.preview.example.com');
    const tokens = await tokensDuring(page, () => logIn(page));
    expect(tokens).to.have.property('refresh_token').that.is.a('string');
    const before = calls();
    const form = { grant_type: 'refresh_token', client_id: 'app', ...tokens };
    const { status, body } = await site().relay.send({
      path: '/auth/provider/token',
      ...formWith(form),
    });
    expect(status).to.equal(400);
    expect(JSON.parse(`${body}`)).to.include({ error: 'invalid_dpop_proof' });
    expect(calls()).to.equal(before);
  });

  it('get no refresh token without a key, even if pages elsewhere get one', async () => {
    const page = await openPreview('pull-9.preview.example.com');
    await page.route(tokenUrl(), async (route) => {
      const { dpop, ...headers } = route.request().headers();
      await route.continue({ headers });
    });
    const tokens = await tokensDuring(page, () => logIn(page));
    expect(tokens).to.have.property('access_token').that.is.a('string');
    expect(tokens).to.not.have.property('refresh_token');
    await page.unroute(tokenUrl());
    await page.reload();
    await loggedOut(page);
  });

  for (const host of ['preview.example.com', 'a.b.preview.example.com', 'evil.example']) {
    it(`start no login at ${host}, and get no answer there`, async () => {
      const page = await openPreview(host);
      const before = calls();
      const asked = `fetch('${tokenUrl()}', { method: 'POST', body: new URLSearchParams({ client_id: 'app' }) })
        .then(({ status }) => status, ({ name }) => name)`;
      expect(await page.evaluate(asked)).to.equal('TypeError');
      const answer = page.waitForResponse((one) =>
        one.url().startsWith(`${site().relayUrl}/auth/provider?`),
      );
      await page.getByRole('button', { name: 'Log in' }).click();
      expect((await answer).status()).to.equal(400);
      await page.waitForURL(`${site().relayUrl}/auth/provider?**`);
      expect(await page.context().cookies(site().relayUrl)).to.deep.equal([]);
      expect(calls()).to.equal(before);
    });
  }
});
