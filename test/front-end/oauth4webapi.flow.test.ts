import { expect } from 'chai';
import * as oauth from 'oauth4webapi';
import { FakeBrowser } from '../harness/browser/fake-browser.ts';
import { baseUrl, frontendOrigin, loginPath, type Relay, useRelays } from '../harness/relay/relay-under-test.ts';
import { certifiedProvider, type LoginProvider, startRelayFor } from './support/login-providers.ts';
import { type Fetch, pageFetch } from './support/page-fetch.ts';

/** The only redirect URI of the front end, as the relay writes it. */
const redirectUri = `${frontendOrigin}/`;

/** The front end as a client of the relay. */
const client: oauth.Client = { client_id: 'app' };

/** A login that a page has started. The page remembers it until the person is back. */
interface Pending {
  readonly url: URL;
  readonly state: string;
  readonly codeVerifier: string;
}

type Tokens = oauth.TokenEndpointResponse;

/** A page of the front end that logs in with oauth4webapi, as its documentation says. */
class OAuthPage {
  readonly server: oauth.AuthorizationServer;
  readonly #fetch: Fetch;
  readonly #options: oauth.TokenEndpointRequestOptions;
  /** Who sends a request, to whom, and how the client authenticates. */
  readonly #ends: readonly [oauth.AuthorizationServer, oauth.Client, oauth.ClientAuth];

  /** @param key the key of its tokens */
  private constructor(server: oauth.AuthorizationServer, fetch: Fetch, key: oauth.CryptoKeyPair) {
    this.server = server;
    this.#fetch = fetch;
    this.#ends = [server, client, oauth.None()];
    // The handle remembers the nonce.
    this.#options = { [oauth.customFetch]: fetch, DPoP: oauth.DPoP(client, key) };
  }

  /** Opens the page, which discovers the relay's endpoints, and makes a key. */
  static async open(relay: () => Relay): Promise<OAuthPage> {
    const fetch = pageFetch(relay);
    const issuer = new URL(baseUrl + loginPath);
    const response = await oauth.discoveryRequest(issuer, {
      algorithm: 'oauth2',
      [oauth.customFetch]: fetch,
    });
    const server = await oauth.processDiscoveryResponse(issuer, response);
    return new OAuthPage(server, fetch, await oauth.generateKeyPair('ES256'));
  }

  /** The address of a login. */
  async startLogin(): Promise<Pending> {
    const codeVerifier = oauth.generateRandomCodeVerifier();
    const state = oauth.generateRandomState();
    const url = new URL(this.server.authorization_endpoint ?? '');
    url.search = `${new URLSearchParams({
      client_id: client.client_id,
      response_type: 'code',
      redirect_uri: redirectUri,
      code_challenge: await oauth.calculatePKCECodeChallenge(codeVerifier),
      code_challenge_method: 'S256',
      state,
    })}`;
    return { url, state, codeVerifier };
  }

  /** Redeems the code in the authorization response. */
  async finishLogin(landing: URL, { state, codeVerifier }: Pending): Promise<Tokens> {
    const parameters = oauth.validateAuthResponse(this.server, client, landing, state);
    return await withNonce(async () => {
      const grant = [parameters, redirectUri, codeVerifier, this.#options] as const;
      const response = await oauth.authorizationCodeGrantRequest(...this.#ends, ...grant);
      return await oauth.processAuthorizationCodeResponse(this.server, client, response);
    });
  }

  /** Logs in from the first redirect to the tokens. */
  async logIn(relay: () => Relay, provider: LoginProvider): Promise<Tokens> {
    const pending = await this.startLogin();
    const landing = await provider.logIn(new FakeBrowser(relay), pending.url);
    return await this.finishLogin(landing, pending);
  }

  async refresh({ refresh_token: token = '' }: Tokens): Promise<Tokens> {
    return await withNonce(async () => {
      const response = await oauth.refreshTokenGrantRequest(...this.#ends, token, this.#options);
      return await oauth.processRefreshTokenResponse(this.server, client, response);
    });
  }

  async revoke(token: string): Promise<void> {
    const response = oauth.revocationRequest(...this.#ends, token, this.#options);
    await oauth.processRevocationResponse(await response);
  }

  /** The status of a user lookup with the access token, which is the provider's bearer token. */
  async lookUp({ access_token: token }: Tokens): Promise<number> {
    const url = new URL('/api/user', baseUrl);
    const request = [token, 'GET', url, undefined, undefined] as const;
    const options = { [oauth.customFetch]: this.#fetch };
    return await oauth.protectedResourceRequest(...request, options).then(
      ({ status }) => status,
      (error: unknown) => (error instanceof oauth.WWWAuthenticateChallengeError ? error.status : 0),
    );
  }
}

/** Tries once more if the server asks for a nonce, as the documentation of the library does. */
async function withNonce<Result>(request: () => Promise<Result>): Promise<Result> {
  return await request().catch((error: unknown) => {
    if (!oauth.isDPoPNonceError(error)) throw error;
    return request();
  });
}

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
