import { expect } from 'chai';
import { encoded, oauthStart, type Parameters } from '../harness/login/oauth-front-end.ts';
import { json } from '../harness/provider/provider-behaviours.ts';
import { ada, secret } from '../resources/support/resources-relay.ts';
import { clientsRelay, jsonOf } from './support/clients-relay.ts';

const wiki = 'https://wiki.example.com/';
const mcp = 'https://mcp.example.com/mcp';
const ofFirefox = 'http://127.0.0.1/mozoauth2/5bed674f74ec59875d4860fbe854e945b81b4dac';
const basic = (text: string): [string, string] => ['Authorization', `Basic ${Buffer.from(text).toString('base64')}`];

describe('the requests that programs are reported to send to other servers', () => {
  const relay = clientsRelay(() => ({
    relay: `resources:
  wiki: { url: '${wiki}', secret-file: ./secret }
  mcp: { url: '${mcp}', secret-file: ./secret }
`,
    files: { './secret': secret },
    frontEnds: `  tools: { kind: native, refresh-tokens: bearer, clients: { registration: true }, resources: [wiki, mcp] }
  extension: { kind: native, redirect-uris: ['${ofFirefox}'], origins: ['moz-extension://*'], resources: [wiki] }
`,
  }));
  beforeEach(() => relay().provider.knows(json(ada)));

  const register = async (metadata: object) => await relay().post('register', JSON.stringify(metadata));
  const program = async (redirect_uri: string) =>
    `${jsonOf(await register({ redirect_uris: [redirect_uri] }))['client_id']}`;

  interface Login {
    readonly start?: Parameters;
    readonly token?: Parameters;
    readonly headers?: [string, string][];
  }

  /** Logs in. @returns the answer to the token request */
  async function logIn(client_id: string, redirect_uri: string, { start = {}, token = {}, headers = [] }: Login = {}) {
    const begun = oauthStart({ client_id, redirect_uri, resource: wiki, ...start });
    const back = await relay().visit(`${relay().address}/auth/provider?${encoded(begun.parameters)}`);
    expect(back.href.startsWith(redirect_uri), back.href).to.equal(true);
    return await relay().redeem(begun, back.searchParams.get('code') ?? '', token, headers);
  }

  it('a free port instead of the port that VS Code has registered', async () => {
    const pages = ['https://insiders.vscode.dev/redirect', 'https://vscode.dev/redirect'];
    const redirect_uris = [...pages, 'http://127.0.0.1/', 'http://127.0.0.1:33418/'];
    const { client_id } = jsonOf(await register({ redirect_uris }));
    expect((await logIn(`${client_id}`, 'http://127.0.0.1:59656/')).status).to.equal(200);
  });

  it('a redirect URI without a path, which is sent as it was registered', async () => {
    const answer = await register({ redirect_uris: ['http://127.0.0.1:33418', 'https://vscode.dev/redirect'] });
    expect(jsonOf(answer)['redirect_uris']).to.deep.equal(['http://127.0.0.1:33418', 'https://vscode.dev/redirect']);
    expect((await logIn(`${jsonOf(answer)['client_id']}`, 'http://127.0.0.1:33418')).status).to.equal(200);
  });

  it('another way to authenticate than a program without a secret has, or null for what it does not know', async () => {
    for (const method of ['client_secret_basic', 'client_secret_post', 'private_key_jwt', null, undefined]) {
      const metadata = { client_name: null, contacts: null, token_endpoint_auth_method: method };
      const answer = await register({ redirect_uris: ['http://127.0.0.1/cb'], ...metadata });
      expect(answer.status, `${method}`).to.equal(201);
      expect(jsonOf(answer)).to.include({ token_endpoint_auth_method: 'none' });
      expect(jsonOf(answer)).not.to.have.property('client_secret');
    }
  });

  it('its name and an empty secret in Authorization, instead of client_id or together with it', async () => {
    const redirectUri = 'http://127.0.0.1:4000/cb';
    const id = await program(redirectUri);
    for (const token of [{ client_id: undefined }, {}, { client_secret: '' }]) {
      const answer = await logIn(id, redirectUri, { token, headers: [basic(`${encodeURIComponent(id)}:`)] });
      expect(answer.status, `${answer.body}`).to.equal(200);
      const form = { ...token, grant_type: 'refresh_token', refresh_token: `${jsonOf(answer)['refresh_token']}` };
      expect((await relay().post('token', { client_id: id, ...form }, [basic(`${id}:`)])).status).to.equal(200);
    }
  });

  it('but not another name, a secret, a second header, or the password of a gate', async () => {
    const redirectUri = 'http://127.0.0.1:4000/cb';
    const id = await program(redirectUri);
    const other = await program('http://127.0.0.1:4000/other');
    const named = { token: { client_id: undefined } };
    for (const headers of [
      [basic(`${other}:`)],
      [basic(`${id}:secret`)],
      [basic(':')],
      [basic(`${id}:`), basic(`${id}:`)],
      [['Authorization', `Bearer ${id}:`] as [string, string]],
      [],
    ]) {
      const answer = await logIn(id, redirectUri, { ...named, headers });
      expect(answer.status, JSON.stringify(headers)).to.equal(400);
      expect(jsonOf(answer)).not.to.have.property('access_token');
    }
    const gated = await logIn(id, redirectUri, { headers: [basic('staging:password')] });
    expect(gated.status).to.equal(200);
  });

  it('a resource with or without the slash of a root, with its default port, or with other capitals', async () => {
    const redirectUri = 'http://127.0.0.1:4000/cb';
    const id = await program(redirectUri);
    for (const resource of ['https://wiki.example.com', 'https://wiki.example.com:443/', 'https://WIKI.example.com/']) {
      const answer = await logIn(id, redirectUri, { start: { resource }, token: { resource: wiki } });
      expect(answer.status, resource).to.equal(200);
      expect((await logIn(id, redirectUri, { token: { resource } })).status, resource).to.equal(200);
    }
    expect((await logIn(id, redirectUri, { start: { resource: `${mcp}/` } })).status).to.equal(200);
  });

  it('but not another resource, by another path, a part of the path, a fragment, http, or another port', async () => {
    const redirectUri = 'http://127.0.0.1:4000/cb';
    const id = await program(redirectUri);
    for (const resource of [
      'https://mcp.example.com',
      'https://mcp.example.com/',
      `${mcp}2`,
      `${mcp}#x`,
      `${mcp}?x`,
      'http://mcp.example.com/mcp',
      'https://mcp.example.com:8443/mcp',
      'https://user@mcp.example.com/mcp',
      'https://mcp.example.com.evil.example/mcp',
    ]) {
      const { parameters } = oauthStart({ client_id: id, redirect_uri: redirectUri, resource });
      const refused = await relay().send({ path: `/auth/provider?${encoded(parameters)}` });
      expect([refused.status, relay().lines.at(-1)?.['outcome']], resource).to.deep.equal([400, 'resource_refused']);
      expect(refused.headers, resource).not.to.have.property('location');
      const answer = await logIn(id, redirectUri, { start: { resource: mcp }, token: { resource } });
      expect(jsonOf(answer)['error'], resource).to.equal('invalid_target');
    }
  });

  it('parameters of other servers at the start, and a scope at the token endpoint', async () => {
    const redirectUri = 'http://127.0.0.1:4000/cb';
    const start = { audience: 'x', access_type: 'offline', prompt: 'consent', nonce: 'x', max_age: '1' };
    const answer = await logIn(await program(redirectUri), redirectUri, {
      start,
      token: { scope: 'a', audience: 'x' },
    });
    expect(answer.status).to.equal(200);
  });

  it('the redirect URI of an extension in Firefox, and its origin, which no other profile has', async () => {
    const headers: [string, string][] = [['Origin', 'moz-extension://5f0a1b2c-3d4e-4f60-8a7b-9c0d1e2f3a4b']];
    expect((await logIn('extension', ofFirefox, { headers })).status).to.equal(200);
  });

  it('redirect URIs that look like this machine, which are left out', async () => {
    const others = `http://0.0.0.0:8080/cb http://127.0.0.1.nip.io/cb http://host.docker.internal:3000/cb
      http://localhost.evil.example/cb http://127.1/cb http://[::ffff:127.0.0.1]/cb http://192.168.1.2/cb`.split(/\s+/);
    const answer = await register({ redirect_uris: [...others, 'http://[::1]:99/cb'] });
    expect(jsonOf(answer)['redirect_uris']).to.be.an('array').that.includes('http://[::1]:99/cb');
    for (const uri of jsonOf(answer)['redirect_uris'] as string[]) {
      expect(new URL(uri).hostname, uri).to.match(/^(127\.0\.0\.1|\[::1\]|localhost)$/);
    }
  });
});
