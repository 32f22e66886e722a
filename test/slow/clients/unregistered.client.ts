import { spawn } from 'node:child_process';
import { text } from 'node:stream/consumers';
import { expect } from 'chai';
import * as oidc from 'openid-client';
import { ClientsRelay } from '../../clients/support/clients-relay.ts';
import { freePort } from '../../harness/system/free-port.ts';
import { MemoryServer, memoryProgram } from '../../harness/system/memory-server.ts';
import { needsPrograms } from '../../harness/system/needs.ts';
import { startedOnce } from '../../harness/system/started-once.ts';
import { redirectUri, startDocumentHost } from './support/document-host.ts';
import { onLogin, programOf } from './support/programs.ts';

needsPrograms(memoryProgram).describe(
  'an unregistered client, as it is published, at two relays that share a memory',
  () => {
    let relay: ClientsRelay;
    const memory = startedOnce('their memory', MemoryServer.start, (one) => one.stop());
    const host = startedOnce('the host of a document', startDocumentHost, (one) => one.stop());

    const settings = () => ({
      here: true,
      replicas: 2,
      relay: `shared-memory: ${memory().address}`,
      frontEnds: `  tools:
    kind: native
    refresh-tokens: bearer
    clients: { documents: any, registration: true }
`,
    });

    before('start the relays', async () => {
      relay = await ClientsRelay.start(settings());
    });
    after('stop them', () => relay.stop());

    const issuer = () => new URL(`${relay.address}/auth/provider`);

    /** @param id the URL of its document, or undefined if it registers itself */
    async function open(id?: string) {
      const options: oidc.DiscoveryRequestOptions = {
        algorithm: 'oauth2',
        execute: [oidc.allowInsecureRequests],
      };
      const config =
        id === undefined
          ? await oidc.dynamicClientRegistration(issuer(), { redirect_uris: [redirectUri] }, oidc.None(), options)
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
        refresh: (refreshToken = '') => oidc.refreshTokenGrant(config, refreshToken),
      };
    }

    async function expectUser({ access_token: token }: oidc.TokenEndpointResponse): Promise<void> {
      const headers = { Authorization: `Bearer ${token}` };
      expect((await fetch(`${relay.address}/api/user`, { headers })).status).to.equal(200);
    }

    for (const how of ['registration', 'a metadata document']) {
      it(`is one of openid-client, with ${how}`, async () => {
        const client = await open(how === 'registration' ? undefined : host().url);
        for (const [first, other] of [
          [0, 1],
          [undefined, undefined],
        ]) {
          relay.at = first;
          const tokens = await client.logIn();
          await expectUser(tokens);
          relay.at = other;
          const refreshed = await client.refresh(tokens.refresh_token);
          expect(refreshed.refresh_token).not.to.equal(tokens.refresh_token);
          await expectUser(refreshed);
          await relay.restart(settings());
          await expectUser(await client.refresh(refreshed.refresh_token));
        }
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
      onLogin(suite.stdout, (start) => relay.visit(start.href));
      expect(await text(suite.stdout)).to.contain('Total: 3 passed, 0 failed');
    });
  },
);
