import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, type Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import { auth, type OAuthClientProvider } from '@modelcontextprotocol/sdk/client/auth.js';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import type {
  OAuthClientInformationMixed,
  OAuthTokens,
} from '@modelcontextprotocol/sdk/shared/auth.js';
import { expect } from 'chai';
import * as oidc from 'openid-client';
import { ClientsRelay } from '../../clients/support/clients-relay.ts';
import { type Certificate, issueCertificate } from '../../harness/system/certificate.ts';
import { eventually } from '../../harness/system/eventually.ts';
import { freePort } from '../../harness/system/free-port.ts';
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
    let mcpServer: ChildProcess;
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

    before('start the relays, an MCP server, and the host of a document', async () => {
      memory = await MemoryServer.start();
      relay = await ClientsRelay.start(settings());
      serverUrl = await startMcpServer();
      certificate = await issueCertificate('localhost');
      setDefaultCACertificates([...trusted, certificate.authority]);
      host = createServer(certificate, (_, response) => {
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
      mcpServer.kill();
      await relay.stop();
      await memory.stop();
    });

    /** Starts an MCP server, with a tool that says who the person is. */
    async function startMcpServer(): Promise<string> {
      const port = await freePort();
      const program = join(import.meta.dirname, 'mcp-server.js');
      mcpServer = spawn(process.execPath, [program, relay.address, `${port}`], {
        stdio: ['ignore', 'pipe', 'inherit'],
      });
      if (mcpServer.stdout) await once(mcpServer.stdout, 'data');
      return `http://127.0.0.1:${port}/mcp`;
    }

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

    async function expectUser({ access_token: token }: Tokens): Promise<void> {
      const headers = { Authorization: `Bearer ${token}` };
      expect((await fetch(`${relay.address}/api/user`, { headers })).status).to.equal(200);
    }

    for (const [library, open] of Object.entries({
      'the MCP SDK': ofSdk,
      'openid-client': ofOpenidClient,
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

    const programOf = (path: string) => join(import.meta.dirname, 'node_modules', path);

    /** Does what a person does with each address of a login that a program prints. */
    function onLogin(output: Readable, note: (start: URL) => void = () => {}): void {
      createInterface({ input: output }).on('line', async (line) => {
        if (!line.startsWith(`${issuer()}?`)) return;
        note(new URL(line));
        const back = await relay.visit(line);
        // It may print the address before it listens.
        await eventually(() => fetch(back));
      });
    }

    it('is that of the conformance suite for authorization servers', async () => {
      const port = await freePort();
      const answer = await fetch(`${issuer()}/register`, {
        method: 'POST',
        headers: { 'Content-Type': 'application/json' },
        body: JSON.stringify({ redirect_uris: [`http://127.0.0.1:${port}/callback`] }),
      });
      const { client_id } = (await answer.json()) as { client_id: string };
      const program = programOf('@modelcontextprotocol/conformance/dist/index.js');
      const words = ['authorization', '--url', `${issuer()}`, '--client-id', client_id];
      const suite = spawn(process.execPath, [program, ...words, '--port', `${port}`]);
      onLogin(suite.stdout);
      expect(await text(suite.stdout)).to.contain('Total: 3 passed, 0 failed');
    });

    it('is mcp-remote', async () => {
      relay.at = undefined;
      const directory = mkdtempSync(join(tmpdir(), 'login-relay-'));
      const clients: string[] = [];
      const start = async () => {
        const transport = new StdioClientTransport({
          command: process.execPath,
          args: [programOf('mcp-remote/dist/proxy.js'), serverUrl],
          env: {
            PATH: process.env['PATH'] ?? '',
            MCP_REMOTE_CONFIG_DIR: directory,
            BROWSER: 'true',
          },
          stderr: 'pipe',
        });
        onLogin(transport.stderr as Readable, (url) => {
          clients.push(url.searchParams.get('client_id') ?? '');
        });
        const client = new Client({ name: 'test', version: '1' });
        await client.connect(transport);
        return client;
      };
      /** The access token, which is in the name of the user. */
      const call = async (client: Client): Promise<string> => {
        const { content } = await client.callTool({ name: 'whoami' });
        return /"owner-of-([^"]+)"/.exec(JSON.stringify(content))?.[1] ?? expect.fail('no user');
      };
      try {
        const client = await start();
        const first = await call(client);
        relay.provider.expire(first);
        expect(await call(client)).not.to.equal(first);
        expect(clients).to.have.lengthOf(1);
        await client.close();
        await relay.restart(settings());
        relay.provider.revokeAll();
        const again = await start();
        await call(again);
        expect(clients[1]).to.equal(clients[0]);
        await again.close();
        // Its registration is over.
        relay.ahead = 91 * 86_400_000;
        relay.provider.revokeAll();
        const last = await start();
        await call(last);
        expect(clients[2]).to.be.a('string').and.not.equal(clients[0]);
        await last.close();
      } finally {
        rmSync(directory, { recursive: true });
      }
    });
  },
);
