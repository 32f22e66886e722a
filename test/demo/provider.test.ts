import { createHash } from 'node:crypto';
import { expect } from 'chai';
import { type OpenPort, openPort } from '../../src/demo/ports.ts';
import { createDemoProvider } from '../../src/demo/provider.ts';
import { FakeBrowser, type Page } from '../harness/browser/fake-browser.ts';

const client = {
  clientId: 'a-client',
  clientSecret: 'a-secret-of-forty-characters-0123456789x',
  callbackUri: 'http://localhost:1/callback',
  name: 'A <b>client</b>',
};
const verifier = 'a verifier';

describe('demo provider', () => {
  let port: OpenPort;
  let issuer: string;
  const faults: Error[] = [];

  before('start it', async () => {
    port = await openPort(0, 'a test');
    issuer = port.url;
    port.serve(createDemoProvider(issuer, client, (error) => faults.push(error)));
  });

  after('stop it', () => port.close());

  afterEach('no fault was reported', () => {
    expect(faults.splice(0)).to.deep.equal([]);
  });

  function authorizeUrl(more: Record<string, string> = {}): string {
    const query = new URLSearchParams({
      response_type: 'code',
      client_id: client.clientId,
      redirect_uri: client.callbackUri,
      scope: 'openid profile',
      code_challenge: createHash('sha256').update(verifier).digest('base64url'),
      code_challenge_method: 'S256',
      ...more,
    });
    return `${issuer}/authorize?${query}`;
  }

  const newBrowser = () => new FakeBrowser(undefined, { frontEnd: new URL(client.callbackUri).origin });

  async function startLogin(browser: FakeBrowser): Promise<Page> {
    const page = await browser.visit(authorizeUrl());
    expect(page.status).to.equal(200);
    return page;
  }

  /** Logs in under this name. Returns the code in the authorization response. */
  async function finishLogin(browser: FakeBrowser, loginPage: Page, name: string): Promise<string> {
    const { url } = await browser.submit(loginPage, { name });
    expect(url.origin + url.pathname).to.equal(client.callbackUri);
    return url.searchParams.get('code') ?? '';
  }

  async function userNamed(name: string): Promise<Record<string, unknown>> {
    const browser = newBrowser();
    const { clientId: client_id, clientSecret: client_secret, callbackUri: redirect_uri } = client;
    const form = { grant_type: 'authorization_code', code_verifier: verifier, redirect_uri };
    const code = await finishLogin(browser, await startLogin(browser), name);
    const body = new URLSearchParams({ client_id, client_secret, ...form, code });
    const { access_token } = await jsonAt(`${issuer}/token`, { method: 'POST', body });
    return await jsonAt(`${issuer}/me`, { headers: { authorization: `Bearer ${access_token}` } });
  }

  it('logs in anyone who types a name, and knows them again', async () => {
    for (const [typed, name] of [
      ['  Ada \t Lovelace ', 'Ada Lovelace'],
      ['constructor', 'constructor'],
      ['A\u202Eda\u0000', 'Ada'],
      ['李小龙', '李小龙'],
      ['x'.repeat(60), 'x'.repeat(60)],
      ['<script>&"\'', '<script>&"\''],
    ] as const) {
      const user = await userNamed(typed);
      expect(user['name']).to.equal(name);
      expect(user['login']).to.equal(name.toLowerCase().replace(' ', '-'));
      expect(user['id']).to.match(/^[\w-]{1,255}$/);
    }
    const [first, again, other] = await Promise.all(['Ada', 'Ada', 'ada'].map(userNamed));
    expect(first).to.deep.equal(again);
    expect(first?.['id']).to.not.equal(other?.['id']);
  });

  it('shows the name of the client, escaped', async () => {
    const { body } = await startLogin(newBrowser());
    expect(`${body}`).to.contain('A &lt;b&gt;client&lt;/b&gt;');
  });

  describe('refuses', () => {
    it('a name that is empty, blank or too long, and asks again', async () => {
      for (const name of ['', ' \u00a0\u200b', 'x'.repeat(61)]) {
        const browser = newBrowser();
        const loginPage = await startLogin(browser);
        const { status, body } = await browser.submit(loginPage, { name });
        expect(status).to.equal(400);
        expect(`${body}`).to.contain('role="alert"');
        expect(await finishLogin(browser, loginPage, 'ada')).not.to.equal('');
      }
    });

    it('a login that another browser started', async () => {
      const loginPage = await startLogin(newBrowser());
      const { status } = await newBrowser().submit(loginPage, { name: 'ada' });
      expect(status).to.equal(400);
    });

    for (const [what, more] of [
      ['another redirect URI', { redirect_uri: 'http://localhost:1/elsewhere' }],
      ['an unknown client', { client_id: 'somebody' }],
    ] as const) {
      it(`${what} with a page, never a redirect`, async () => {
        const { status, headers } = await newBrowser().open(authorizeUrl(more));
        expect(status).to.equal(400);
        expect(headers).not.to.have.property('location');
      });
    }
  });
});

async function jsonAt(url: string, request: RequestInit): Promise<Record<string, unknown>> {
  const body: unknown = await (await fetch(url, request)).json();
  if (typeof body !== 'object' || body === null) throw new Error('not a JSON object');
  return { ...body };
}
