import { createServer, type Server } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import { auth, type OAuthClientProvider } from '@modelcontextprotocol/sdk/client/auth.js';
import type {
  OAuthClientInformationMixed,
  OAuthTokens,
} from '@modelcontextprotocol/sdk/shared/auth.js';
import { expect } from 'chai';
import * as oidc from 'openid-client';
import { ClientsRelay } from '../../clients/support/clients-relay.ts';
import { issueCertificate } from '../../harness/system/certificate.ts';

const redirectUri = 'http://127.0.0.1:41234/callback';
const settings = {
  here: true,
  frontEnds: `  tools:
    kind: native
    refresh-tokens: bearer
    clients: { documents: any, registration: true }
`,
};

/** What the official SDK asks of an application. It keeps everything in memory. */
class Application implements OAuthClientProvider {
  readonly redirectUrl = redirectUri;
  readonly clientMetadata = { redirect_uris: [redirectUri], client_name: 'Test' };
  readonly clientMetadataUrl?: string;
  asked: URL | undefined;
  #client: OAuthClientInformationMixed | undefined;
  #tokens: OAuthTokens | undefined;
  #verifier = '';

  constructor(clientMetadataUrl?: string) {
    if (clientMetadataUrl !== undefined) this.clientMetadataUrl = clientMetadataUrl;
  }

  clientInformation() {
    return this.#client;
  }
  saveClientInformation(client: OAuthClientInformationMixed) {
    this.#client = client;
  }
  tokens() {
    return this.#tokens;
  }
  saveTokens(tokens: OAuthTokens) {
    this.#tokens = tokens;
  }
  forgetTokens() {
    this.#tokens = undefined;
  }
  redirectToAuthorization(url: URL) {
    this.asked = url;
  }
  saveCodeVerifier(verifier: string) {
    this.#verifier = verifier;
  }
  codeVerifier() {
    return this.#verifier;
  }
}

describe('a client that nobody registered, as it is published', () => {
  let relay: ClientsRelay;
  let resource: Server;
  let serverUrl: string;

  before('start the relay, and a protected resource that names it', async () => {
    relay = await ClientsRelay.start(settings);
    resource = createServer(({ url }, response) => {
      const isMetadata = url?.startsWith('/.well-known/oauth-protected-resource');
      const metadata = {
        resource: serverUrl,
        authorization_servers: [`${relay.address}/auth/provider`],
      };
      response.writeHead(isMetadata ? 200 : 404, { 'Content-Type': 'application/json' });
      response.end(JSON.stringify(metadata));
    });
    await new Promise<void>((done) => resource.listen(0, '127.0.0.1', done));
    serverUrl = `http://127.0.0.1:${(resource.address() as AddressInfo).port}/mcp`;
  });
  after('stop them', async () => {
    resource.close();
    await relay.stop();
  });

  /** What a person does: consents at the relay and at the provider. */
  async function logIn(start: URL): Promise<URL> {
    const page = await get(start.href);
    const text = await page.text();
    const [, action = ''] = /action="([^"]*)"/.exec(text) ?? [];
    const [, consent = ''] = /name="consent" value="([^"]*)"/.exec(text) ?? [];
    const body = new URLSearchParams({ consent, decision: 'continue' });
    const asked = await get(action, cookieOf(page), { method: 'POST', body });
    const request = new URL(asked.headers.get('location') ?? '');
    const code = relay.provider.authorize(request);
    const state = request.searchParams.get('state') ?? '';
    const callback = `${relay.address}/auth/provider/callback?${new URLSearchParams({ code, state })}`;
    const back = await get(callback, cookieOf(asked));
    return new URL(back.headers.get('location') ?? '');
  }

  async function get(url: string, cookie = '', init: RequestInit = {}): Promise<Response> {
    const headers = { cookie, accept: 'text/html', 'user-agent': 'Mozilla/5.0' };
    return await fetch(url, { ...init, redirect: 'manual', headers });
  }

  function cookieOf({ headers }: Response): string {
    const set = headers.getSetCookie().filter((one) => !/Max-Age=0|finished/.test(one));
    return set.map((one) => one.split(';')[0]).join('; ');
  }

  async function expectUser(token: string | undefined): Promise<void> {
    const headers = { Authorization: `Bearer ${token}` };
    expect((await fetch(`${relay.address}/api/user`, { headers })).status).to.equal(200);
  }

  async function useSdk(application: Application): Promise<void> {
    for (const _ of ['at first', 'after a restart']) {
      application.forgetTokens();
      expect(await auth(application, { serverUrl })).to.equal('REDIRECT');
      const back = await logIn(application.asked ?? new URL(serverUrl));
      const authorizationCode = back.searchParams.get('code') ?? '';
      expect(await auth(application, { serverUrl, authorizationCode })).to.equal('AUTHORIZED');
      await expectUser(application.tokens()?.access_token);
      const before = application.tokens()?.refresh_token;
      expect(await auth(application, { serverUrl })).to.equal('AUTHORIZED');
      expect(application.tokens()?.refresh_token).not.to.equal(before);
      await expectUser(application.tokens()?.access_token);
      await relay.restart(settings);
    }
  }

  it('is one of the MCP SDK, with registration', async () => {
    await useSdk(new Application());
  });

  it('is one of the MCP SDK, with a metadata document', async () => {
    const certificate = await issueCertificate('localhost');
    const trusted = getCACertificates('default');
    setDefaultCACertificates([...trusted, certificate.authority]);
    let id = '';
    const host = createTlsServer(certificate, (_, response) => {
      response.writeHead(200, { 'Content-Type': 'application/json' });
      response.end(JSON.stringify({ client_id: id, redirect_uris: [redirectUri] }));
    });
    await new Promise<void>((done) => host.listen(0, '127.0.0.1', done));
    id = `https://localhost:${(host.address() as AddressInfo).port}/client.json`;
    try {
      await useSdk(new Application(id));
    } finally {
      setDefaultCACertificates(trusted);
      host.closeAllConnections();
      host.close();
      await certificate.remove();
    }
  });

  it('is one of openid-client, with registration', async () => {
    const config = await oidc.dynamicClientRegistration(
      new URL(`${relay.address}/auth/provider`),
      { redirect_uris: [redirectUri] },
      oidc.None(),
      { algorithm: 'oauth2', execute: [oidc.allowInsecureRequests] },
    );
    for (const _ of ['at first', 'after a restart']) {
      const pkceCodeVerifier = oidc.randomPKCECodeVerifier();
      const code_challenge = await oidc.calculatePKCECodeChallenge(pkceCodeVerifier);
      const start = oidc.buildAuthorizationUrl(config, {
        redirect_uri: redirectUri,
        code_challenge,
        code_challenge_method: 'S256',
      });
      const back = await logIn(start);
      const tokens = await oidc.authorizationCodeGrant(config, back, { pkceCodeVerifier });
      await expectUser(tokens.access_token);
      const refreshed = await oidc.refreshTokenGrant(config, tokens.refresh_token ?? '');
      await expectUser(refreshed.access_token);
      await relay.restart(settings);
    }
  });
});
