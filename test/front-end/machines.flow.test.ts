import { execFile } from 'node:child_process';
import { generateKeyPairSync } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect } from 'chai';
import * as oauth from 'oauth4webapi';
import { clientsRelay } from '../clients/support/clients-relay.ts';
import { needsPrograms } from '../harness/system/needs.ts';
import { pemOf } from '../resources/support/machines-relay.ts';

const secret = 'a secret (with + and %) of thirty-two characters';
const notes = 'https://notes.example.com/';
const keys = {
  ES256: generateKeyPairSync('ec', { namedCurve: 'P-256' }),
  Ed25519: generateKeyPairSync('ed25519'),
  RS256: generateKeyPairSync('rsa', { modulusLength: 2048 }),
};

describe('a machine, with tools that know nothing of the relay', () => {
  const relay = clientsRelay(() => ({
    here: true,
    relay: `resources: { notes: { url: ${notes}, scope: read } }`,
    frontEnds: [
      '  page: { origin: https://app.example, token-delivery: code, resources: [notes] }',
      '  ci: { kind: machine, secret-file: ./ci-secret, resources: [notes] }',
      ...Object.keys(keys).map((alg) => `  ${alg}: { kind: machine, public-key-file: ./${alg}, resources: [notes] }`),
    ].join('\n'),
    files: {
      './ci-secret': secret,
      ...Object.fromEntries(Object.entries(keys).map(([alg, { publicKey }]) => [`./${alg}`, pemOf(publicKey)])),
    },
  }));
  const insecure = { [oauth.allowInsecureRequests]: true };

  async function discover(): Promise<oauth.AuthorizationServer> {
    const issuer = new URL(`${relay().address}/auth/provider`);
    const response = await oauth.discoveryRequest(issuer, { algorithm: 'oauth2', ...insecure });
    return await oauth.processDiscoveryResponse(issuer, response);
  }

  /** Asks for a token, uses it at the check of the resource, revokes it, and uses it again. */
  async function useAll(name: string, auth: () => oauth.ClientAuth) {
    const server = await discover();
    const client = { client_id: name };
    const asked = new URLSearchParams({ resource: notes, scope: 'read' });
    const response = await oauth.clientCredentialsGrantRequest(server, client, auth(), asked, insecure);
    const { access_token } = await oauth.processClientCredentialsResponse(server, client, response);
    const check = () =>
      fetch(`${relay().address}/auth/check/notes`, { headers: { Authorization: `Bearer ${access_token}` } });
    const first = await check();
    expect(first.status).to.equal(204);
    expect(first.headers.get('x-forwarded-user')).to.equal(`machine:${name}`);
    await oauth.processRevocationResponse(
      await oauth.revocationRequest(server, client, auth(), access_token, insecure),
    );
    expect((await check()).status).to.equal(401);
  }

  it('oauth4webapi with client_secret_basic and client_secret_post', async () => {
    await useAll('ci', () => oauth.ClientSecretBasic(secret));
    await useAll('ci', () => oauth.ClientSecretPost(secret));
  });

  for (const [alg, { privateKey }] of Object.entries(keys)) {
    it(`oauth4webapi with private_key_jwt and ${alg}`, async () => {
      const key = privateKey.toCryptoKey(
        alg === 'RS256'
          ? { name: 'RSASSA-PKCS1-v1_5', hash: 'SHA-256' }
          : alg === 'ES256'
            ? { name: 'ECDSA', namedCurve: 'P-256' }
            : { name: alg },
        false,
        ['sign'],
      );
      await useAll(alg, () => oauth.PrivateKeyJwt(key));
    });
  }

  it('oauth4webapi reads why a wrong secret gets nothing', async () => {
    const server = await discover();
    const client = { client_id: 'ci' };
    const wrong = oauth.ClientSecretBasic('wrong');
    const response = await oauth.clientCredentialsGrantRequest(server, client, wrong, {}, insecure);
    expect(response.status).to.equal(401);
    const failure = await oauth.processClientCredentialsResponse(server, client, response).catch((error) => error);
    expect(failure).to.be.instanceOf(oauth.WWWAuthenticateChallengeError);
  });

  needsPrograms('curl').it('curl, as docs/resources.md has it', async () => {
    const text = readFileSync(new URL('../../docs/resources.md', import.meta.url), 'utf8');
    const [, script = ''] = /^```sh\n(token=.*?)^```$/ms.exec(text) ?? [];
    const folder = mkdtempSync(join(tmpdir(), 'login-relay-'));
    try {
      writeFileSync(join(folder, 'ci-secret'), `${secret}\n`);
      const here = script
        .replaceAll('https://login.example.com/auth/github', `${relay().address}/auth/provider`)
        .replaceAll(notes, `${relay().address}/auth/check/notes -i`);
      expect(here).to.contain('/auth/check/notes');
      const { stdout } = await promisify(execFile)('sh', ['-ec', here], { cwd: folder });
      expect(stdout).to.match(/^x-forwarded-user: machine:ci\r$/im);
    } finally {
      rmSync(folder, { recursive: true });
    }
  });
});
