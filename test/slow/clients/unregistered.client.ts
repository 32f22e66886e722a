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
import * as oauth from 'oauth4webapi';
import * as oidc from 'openid-client';
import { ClientsRelay } from '../../clients/support/clients-relay.ts';
import { type Certificate, issueCertificate } from '../../harness/system/certificate.ts';
import { MemoryServer, memoryProgram } from '../../harness/system/memory-server.ts';
import { needsPrograms } from '../../harness/system/needs.ts';

const redirectUri = 'http://127.0.0.1:41234/callback';

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

interface Tokens {
  readonly access_token: string;
  readonly refresh_token?: string | undefined;
}

/** A client, as a library makes it. */
interface PublishedClient {
  logIn(): Promise<Tokens>;
  refresh(refreshToken: string): Promise<Tokens>;
}

needsPrograms(memoryProgram).describe(
  'a client that nobody registered, as it is published, at two relays that remember together',
  () => {
    let memory: MemoryServer;
    let relay: ClientsRelay;
    let resource: Server;
    let serverUrl: string;
    let certificate: Certificate;
    let host: Server;
    let documentUrl: string;
    const trusted = getCACertificates('default');

    const settings = () => ({
      here: true,
      replicas: 2,
      relay: `shared-memory: ${memory.address}`,
      frontEnds: `  tools:
    kind: native
    refresh-tokens: bearer
    clients: { documents: any, registration: true }
`,
    });

    before('start the relays, a protected resource, and the host of a document', async () => {
      memory = await MemoryServer.start();
      relay = await ClientsRelay.start(settings());
      resource = createServer(({ url }, response) => {
        const isMetadata = url?.startsWith('/.well-known/oauth-protected-resource');
        const metadata = {
          resource: serverUrl,
          authorization_servers: [`${relay.address}/auth/provider`],
        };
        response.writeHead(isMetadata ? 200 : 404, { 'Content-Type': 'application/json' });
        response.end(JSON.stringify(metadata));
      });
      serverUrl = `http://127.0.0.1:${await portOf(resource)}/mcp`;
      certificate = await issueCertificate('localhost');
      setDefaultCACertificates([...trusted, certificate.authority]);
      host = createTlsServer(certificate, (_, response) => {
        response.writeHead(200, { 'Content-Type': 'application/json' });
        response.end(JSON.stringify({ client_id: documentUrl, redirect_uris: [redirectUri] }));
      });
      documentUrl = `https://localhost:${await portOf(host)}/client.json`;
    });
    after('stop them', async () => {
      setDefaultCACertificates(trusted);
      host.closeAllConnections();
      host.close();
      await certificate.remove();
      resource.close();
      await relay.stop();
      await memory.stop();
    });

    async function portOf(server: Server): Promise<number> {
      await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
      return (server.address() as AddressInfo).port;
    }

    const issuer = () => new URL(`${relay.address}/auth/provider`);

    /** @param id the URL of its document; undefined: it registers itself */
    async function ofSdk(id?: string): Promise<PublishedClient> {
      const application = new Application(id);
      const tokens = () => application.tokens() ?? expect.fail('there are no tokens');
      return {
        async logIn() {
          application.forgetTokens();
          expect(await auth(application, { serverUrl })).to.equal('REDIRECT');
          const back = await relay.visit(`${application.asked}`);
          const authorizationCode = back.searchParams.get('code') ?? '';
          expect(await auth(application, { serverUrl, authorizationCode })).to.equal('AUTHORIZED');
          return tokens();
        },
        async refresh(refresh_token) {
          application.saveTokens({ ...tokens(), refresh_token });
          expect(await auth(application, { serverUrl })).to.equal('AUTHORIZED');
          return tokens();
        },
      };
    }

    async function ofOpenidClient(id?: string): Promise<PublishedClient> {
      const options: oidc.DiscoveryRequestOptions = {
        algorithm: 'oauth2',
        execute: [oidc.allowInsecureRequests],
      };
      const config =
        id === undefined
          ? await oidc.dynamicClientRegistration(
              issuer(),
              { redirect_uris: [redirectUri] },
              oidc.None(),
              options,
            )
          : await oidc.discovery(issuer(), id, undefined, oidc.None(), options);
      return {
        async logIn() {
          const pkceCodeVerifier = oidc.randomPKCECodeVerifier();
          const code_challenge = await oidc.calculatePKCECodeChallenge(pkceCodeVerifier);
          const start = oidc.buildAuthorizationUrl(config, {
            redirect_uri: redirectUri,
            code_challenge,
            code_challenge_method: 'S256',
          });
          const back = await relay.visit(start.href);
          return await oidc.authorizationCodeGrant(config, back, { pkceCodeVerifier });
        },
        refresh: (refreshToken) => oidc.refreshTokenGrant(config, refreshToken),
      };
    }

    async function ofOauth4webapi(id?: string): Promise<PublishedClient> {
      const options = { [oauth.allowInsecureRequests]: true } as const;
      const discovered = await oauth.discoveryRequest(issuer(), {
        algorithm: 'oauth2',
        ...options,
      });
      const server = await oauth.processDiscoveryResponse(issuer(), discovered);
      const register = async () =>
        await oauth.processDynamicClientRegistrationResponse(
          await oauth.dynamicClientRegistrationRequest(
            server,
            { redirect_uris: [redirectUri] },
            options,
          ),
        );
      const client: oauth.Client = id === undefined ? await register() : { client_id: id };
      return {
        async logIn() {
          const codeVerifier = oauth.generateRandomCodeVerifier();
          const state = oauth.generateRandomState();
          const start = new URLSearchParams({
            client_id: client.client_id,
            response_type: 'code',
            redirect_uri: redirectUri,
            code_challenge: await oauth.calculatePKCECodeChallenge(codeVerifier),
            code_challenge_method: 'S256',
            state,
          });
          const back = await relay.visit(`${server.authorization_endpoint}?${start}`);
          const response = await oauth.authorizationCodeGrantRequest(
            server,
            client,
            oauth.None(),
            oauth.validateAuthResponse(server, client, back, state),
            redirectUri,
            codeVerifier,
            options,
          );
          return await oauth.processAuthorizationCodeResponse(server, client, response);
        },
        async refresh(refreshToken) {
          const response = await oauth.refreshTokenGrantRequest(
            server,
            client,
            oauth.None(),
            refreshToken,
            options,
          );
          return await oauth.processRefreshTokenResponse(server, client, response);
        },
      };
    }

    async function expectUser({ access_token: token }: Tokens): Promise<void> {
      const headers = { Authorization: `Bearer ${token}` };
      expect((await fetch(`${relay.address}/api/user`, { headers })).status).to.equal(200);
    }

    for (const [library, open] of Object.entries({
      'the MCP SDK': ofSdk,
      'openid-client': ofOpenidClient,
      oauth4webapi: ofOauth4webapi,
    })) {
      for (const how of ['registration', 'a metadata document']) {
        it(`is one of ${library}, with ${how}`, async () => {
          const client = await open(how === 'registration' ? undefined : documentUrl);
          for (const [first, other] of [
            [0, 1],
            [undefined, undefined],
          ]) {
            relay.at = first;
            const tokens = await client.logIn();
            await expectUser(tokens);
            relay.at = other;
            const refreshed = await client.refresh(tokens.refresh_token ?? '');
            expect(refreshed.refresh_token).not.to.equal(tokens.refresh_token);
            await expectUser(refreshed);
            await relay.restart(settings());
            await expectUser(await client.refresh(refreshed.refresh_token ?? ''));
          }
        });
      }
    }
  },
);
