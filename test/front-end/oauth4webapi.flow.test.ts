import { expect } from 'chai';
import * as oauth from 'oauth4webapi';
import { FakeBrowser } from '../harness/browser/fake-browser.ts';
import { baseUrl, type Relay, useRelays } from '../harness/relay/relay-under-test.ts';
import { certifiedProvider, type LoginProvider, startRelayFor } from './support/login-providers.ts';
import { OAuthPage } from './support/oauth4webapi-page.ts';

/** The error of the task. Fails if it throws none. */
async function thrownBy(task: Promise<unknown>): Promise<unknown> {
  return await task.then(
    () => expect.fail('nothing was thrown'),
    (error: unknown) => error,
  );
}

async function expectInvalidGrant(task: Promise<unknown>): Promise<void> {
  const error = await thrownBy(task);
  if (!(error instanceof oauth.ResponseBodyError)) throw error;
  expect([error.error, error.status]).to.deep.equal(['invalid_grant', 400]);
  expect(error.error_description).to.match(/\w+ \w+/);
}

describe('oauth4webapi, at a provider that rotates refresh tokens', () => {
  const startRelay = useRelays();
  let provider: LoginProvider;
  let relay: Relay;
  let page: OAuthPage;
  const target = () => relay;

  before('start the provider and the relay', async () => {
    provider = await certifiedProvider();
    relay = await startRelayFor(provider, startRelay);
  });
  beforeEach(async () => {
    page = await OAuthPage.open(target);
  });
  after(() => provider.close());

  it('logs in with a code and PKCE, and looks up the user with the token', async () => {
    const before = provider.tokenCalls();
    const tokens = await page.logIn(target, provider);
    expect(tokens.token_type).to.equal('bearer');
    expect(provider.tokenCalls()).to.equal(before + 1);
    expect(await page.lookUp(tokens)).to.equal(200);
  });

  it('refreshes with the key that it proved at the login, again and again', async () => {
    const tokens = await page.logIn(target, provider);
    const second = await page.refresh(tokens);
    const third = await page.refresh(second);
    expect(second.access_token).not.to.equal(tokens.access_token);
    expect(await page.lookUp(third)).to.equal(200);
  });

  it('refreshes with the scope from the token response', async () => {
    const tokens = await page.logIn(target, provider);
    const refreshed = await page.refresh(tokens, tokens.scope ?? '');
    expect(await page.lookUp(refreshed)).to.equal(200);
  });

  it('revokes a refresh token', async () => {
    const tokens = await page.logIn(target, provider);
    await page.revoke(tokens.refresh_token ?? '');
    await expectInvalidGrant(page.refresh(tokens));
    expect(await page.lookUp(tokens)).to.equal(401);
  });

  it('revokes an access token, and an unknown token', async () => {
    const tokens = await page.logIn(target, provider);
    await page.revoke(tokens.access_token);
    await page.revoke('unknown');
    expect(await page.lookUp(tokens)).to.equal(401);
  });
});

describe('oauth4webapi, before any code is redeemed,', () => {
  const startRelay = useRelays();
  let provider: LoginProvider;
  let relay: Relay;
  let page: OAuthPage;
  const target = () => relay;

  before('start the provider and the relay', async () => {
    provider = await certifiedProvider();
    relay = await startRelay({ client: provider.client, flags: provider.flags });
    page = await OAuthPage.open(target);
  });
  after(() => provider.close());

  it('finds no refresh tokens in the metadata of a relay without a key file', async () => {
    expect(page.server.grant_types_supported).to.deep.equal(['authorization_code']);
    expect(await page.logIn(target, provider)).not.to.have.property('refresh_token');
  });

  for (const [change, alter] of Object.entries({
    'of another issuer': (landing: URL) => landing.searchParams.set('iss', `${baseUrl}/auth/x`),
    'without an issuer': (landing: URL) => landing.searchParams.delete('iss'),
    'with the state of another login': (landing: URL) => landing.searchParams.set('state', 'other'),
  })) {
    it(`refuses a response ${change}, and sends no token request`, async () => {
      const pending = await page.startLogin();
      const landing = await provider.logIn(new FakeBrowser(target), pending.url);
      alter(landing);
      const before = provider.tokenCalls();
      const error = await thrownBy(page.finishLogin(landing, pending));
      expect(error).to.be.instanceOf(oauth.OperationProcessingError);
      expect(provider.tokenCalls()).to.equal(before);
    });
  }
});
