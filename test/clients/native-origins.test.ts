import { expect } from 'chai';
import type { Answer } from '../harness/client/request.ts';
import { clientsRelay, jsonOf } from './support/clients-relay.ts';

const extension = 'chrome-extension://abcdefghijklmnopabcdefghijklmnop';
const redirect_uri = 'https://abcdefghijklmnopabcdefghijklmnop.chromiumapp.org/';
const anyFirefox = 'moz-extension://5f0a1b2c-3d4e-4f60-8a7b-9c0d1e2f3a4b';
const known = [
  extension,
  anyFirefox,
  'capacitor://localhost',
  'https://localhost',
  'tauri://localhost',
  'app://obsidian.md',
];
const foreign = `null ${extension}/ chrome-extension://ponmlkjihgfedcbaponmlkjihgfedcba
  https://localhost:8443 http://localhost https://evil.example file://
  capacitor://localhost:80 capacitor://evil Capacitor://localhost capacitor://localhost/ tauri://localhost.evil
  moz-extension://* moz-extension://evil ${anyFirefox}.evil.example ${anyFirefox}/ xmoz-extension://*
  https://${anyFirefox.slice(16)} safari-web-extension://5f0a1b2c-3d4e-4f60-8a7b-9c0d1e2f3a4b
  app://obsidian.md.evil.example`.split(/\s+/);
const origins = [extension, 'moz-extension://*', ...known.slice(2)];
const from = (origin: string): [string, string][] => [['Origin', origin]];
const readerOf = ({ headers }: Answer) => headers['access-control-allow-origin'];

describe('an app or a browser extension whose origin is listed', () => {
  const relay = clientsRelay(() => ({
    frontEnds: `  tools:
    kind: native
    redirect-uris: [${redirect_uri}, com.example.app:/cb]
    origins: ["${origins.join('", "')}"]
    refresh-tokens: bearer
`,
  }));

  /** All requests of its pages, one after another. */
  async function everything(origin: string): Promise<Answer[]> {
    const { start, code } = await relay().logIn({ client_id: 'tools', redirect_uri });
    const redeemed = await relay().redeem(start, code, {}, from(origin));
    if (redeemed.status !== 200) return [redeemed];
    const { access_token, refresh_token } = jsonOf(redeemed);
    const headers: [string, string][] = [...from(origin), ['Authorization', `Bearer ${access_token}`]];
    const user = await relay().send({ path: '/api/user', headers });
    const refreshed = await relay().refresh('tools', `${refresh_token}`, from(origin));
    const token = `${jsonOf(refreshed)['refresh_token']}`;
    const revoked = await relay().post('revoke', { client_id: 'tools', token }, from(origin));
    return [redeemed, user, refreshed, revoked];
  }

  for (const origin of known) {
    it(`redeems, refreshes, revokes, and looks up the user: ${origin}`, async () => {
      const answers = await everything(origin);
      expect(answers.map(({ status }) => status)).to.deep.equal([200, 200, 200, 200]);
      for (const answer of answers) expect(readerOf(answer)).to.equal(origin);
      for (const path of ['/auth/provider/token', '/auth/provider/revoke', '/api/user']) {
        expect(readerOf(await relay().preflight(path, origin)), path).to.equal(origin);
      }
    });
  }

  for (const origin of foreign) {
    it(`is not matched by ${origin}, and no call is made`, async () => {
      const answers = await everything(origin);
      expect(answers.map(({ status }) => status)).to.deep.equal([403]);
      expect(relay().provider.calls.filter((call) => `${call}`.includes('token'))).to.deep.equal([]);
      const user = await relay().send({ path: '/api/user', headers: [...from(origin), ['Authorization', 'Bearer x']] });
      for (const answer of [...answers, user, await relay().preflight('/auth/provider/token', origin)]) {
        expect(answer.headers).not.to.have.property('access-control-allow-origin');
      }
    });
  }
});

describe('an extension that registers itself', () => {
  const relay = clientsRelay(() => ({
    frontEnds: `  tools: { kind: native, origins: [${extension}], clients: { registration: true } }
  app: { origin: https://app.example, token-delivery: code }
`,
  }));
  const register = (origin: string) =>
    relay().post('register', JSON.stringify({ redirect_uris: [redirect_uri] }), from(origin));

  it('may do so, and logs in, from its own origin', async () => {
    const registered = await register(extension);
    expect([registered.status, readerOf(registered)]).to.deep.equal([201, extension]);
    const client_id = `${jsonOf(registered)['client_id']}`;
    const question = await relay().ask({ client_id, redirect_uri });
    const { code } = await relay().agree(question);
    expect((await relay().redeem(question.start, code, {}, from(extension))).status).to.equal(200);
    const again = await relay().agree(await relay().ask({ client_id, redirect_uri }));
    const elsewhere = await relay().redeem(question.start, again.code, {}, from('capacitor://localhost'));
    expect(elsewhere.status).to.equal(403);
    expect(elsewhere.headers).not.to.have.property('access-control-allow-origin');
  });

  it('may not do so from another origin, nor use the code of a page', async () => {
    for (const origin of ['chrome-extension://ponmlkjihgfedcbaponmlkjihgfedcba', 'null', 'https://localhost']) {
      const refused = await register(origin);
      expect(refused.status, origin).to.equal(403);
      expect(refused.headers).not.to.have.property('access-control-allow-origin');
    }
    const { start, code } = await relay().logIn({ client_id: 'app', redirect_uri: 'https://app.example/' });
    expect((await relay().redeem(start, code, {}, from(extension))).status).to.equal(403);
  });
});
