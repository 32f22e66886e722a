import { createHash } from 'node:crypto';
import { expect } from 'chai';
import { type OpenPort, openPort } from '../../src/demo/ports.ts';
import { createDemoProvider } from '../../src/demo/provider.ts';
import { FakeBrowser, formWith, type Page } from '../harness/browser/fake-browser.ts';
import type { Answer } from '../harness/client/request.ts';

const client = {
  clientId: 'a-client',
  clientSecret: 'a-secret-of-forty-characters-0123456789x',
  redirectUri: 'http://localhost:1/callback',
  name: 'A <b>client</b>',
};

describe('demo provider', () => {
  let port: OpenPort;
  let pkcePort: OpenPort;
  let issuer: string;
  const faults: Error[] = [];
  const onError = (error: Error) => faults.push(error);

  before('start two providers', async () => {
    port = await openPort(0, 'a test');
    issuer = port.url;
    port.serve(createDemoProvider({ issuer, client, onError }));
    pkcePort = await openPort(0, 'a test');
    const pkce = { issuer: pkcePort.url, client, onError, pkceRequired: true };
    pkcePort.serve(createDemoProvider(pkce));
  });

  after('stop them', async () => {
    await Promise.all([port.close(), pkcePort.close()]);
  });

  afterEach('no fault was reported', () => {
    expect(faults.splice(0)).to.deep.equal([]);
  });

  function authorizeUrl(more: Record<string, string> = {}, at = issuer): string {
    const query = new URLSearchParams({
      response_type: 'code',
      client_id: client.clientId,
      redirect_uri: client.redirectUri,
      scope: 'openid profile',
      ...more,
    });
    return `${at}/authorize?${query}`;
  }

  const newBrowser = () =>
    new FakeBrowser(undefined, { frontEnd: new URL(client.redirectUri).origin });

  /** Goes to the login page. */
  async function startLogin(browser: FakeBrowser, more = {}): Promise<Page> {
    const page = await browser.visit(authorizeUrl(more));
    expect(page.url.href).to.contain(`${issuer}/login/`);
    return page;
  }

  /** Returns the query of the authorization response. */
  async function finishLogin(
    browser: FakeBrowser,
    loginPage: Page,
    fields: Record<string, string>,
  ) {
    const { url } = await browser.submit(loginPage, fields);
    expect(url.origin + url.pathname).to.equal(client.redirectUri);
    return url.searchParams;
  }

  async function codeFor(name: string, more = {}): Promise<string> {
    const browser = newBrowser();
    const answer = await finishLogin(browser, await startLogin(browser, more), { name });
    return answer.get('code') ?? '';
  }

  const nextUrl = ({ headers }: Answer) => new URL(headers.location ?? '', issuer).href;

  async function exchange(code: string, more: Record<string, string> = {}) {
    const response = await fetch(`${issuer}/token`, {
      method: 'POST',
      body: new URLSearchParams({
        grant_type: 'authorization_code',
        code,
        client_id: client.clientId,
        client_secret: client.clientSecret,
        redirect_uri: client.redirectUri,
        ...more,
      }),
    });
    return { status: response.status, body: await jsonObject(response) };
  }

  async function userOf(token: unknown) {
    const response = await fetch(`${issuer}/me`, { headers: { authorization: `Bearer ${token}` } });
    return { status: response.status, body: await jsonObject(response) };
  }

  async function userNamed(name: string) {
    const { body } = await exchange(await codeFor(name));
    return (await userOf(body['access_token'])).body;
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
      expect(user['sub']).to.match(/^[\w-]{1,255}$/);
    }
    const [first, again, other] = await Promise.all(['Ada', 'Ada', 'ada'].map(userNamed));
    expect(first).to.deep.equal(again);
    expect(first?.['sub']).to.not.equal(other?.['sub']);
  });

  it('shows the name of the client, escaped', async () => {
    const { body } = await startLogin(newBrowser());
    expect(`${body}`).to.contain('A &lt;b&gt;client&lt;/b&gt;');
  });

  it('returns state and issuer with the code, or access_denied when the person cancels', async () => {
    const browser = newBrowser();
    const answer = await finishLogin(browser, await startLogin(browser, { state: 'a state' }), {
      name: 'ada',
    });
    expect(answer.get('state')).to.equal('a state');
    expect(answer.get('iss')).to.equal(issuer);
    const denied = await finishLogin(browser, await startLogin(browser), { action: 'cancel' });
    expect(denied.get('error')).to.equal('access_denied');
    expect(denied.has('code')).to.equal(false);
  });

  describe('refuses', () => {
    it('a name that is empty, blank or too long, and asks again', async () => {
      for (const name of ['', ' \u00a0\u200b', 'x'.repeat(61)]) {
        const browser = newBrowser();
        const loginPage = await startLogin(browser);
        const { status, body } = await browser.submit(loginPage, { name });
        expect(status).to.equal(400);
        expect(`${body}`).to.contain('role="alert"');
        expect((await finishLogin(browser, loginPage, { name: 'ada' })).has('code')).to.equal(true);
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

  it('refuses a request without a challenge if PKCE is required', async () => {
    const code_challenge = createHash('sha256').update('a verifier').digest('base64url');
    const challenge = { code_challenge, code_challenge_method: 'S256' };
    const refused = await newBrowser().visit(authorizeUrl({}, pkcePort.url));
    expect(refused.url.searchParams.get('error')).to.equal('invalid_request');
    const allowed = await newBrowser().visit(authorizeUrl(challenge, pkcePort.url));
    expect(allowed.url.href).to.match(new RegExp(`^${pkcePort.url}/login/`));
  });

  it('serves its pages without scripts, frames, caches and referrers', async () => {
    const browser = newBrowser();
    const loginPage = await startLogin(browser);
    for (const url of [loginPage.url.href, `${issuer}/`, `${issuer}/nothing`]) {
      const { headers } = await browser.open(url);
      expect(headers['content-security-policy'])
        .to.contain("default-src 'none'")
        .and.to.contain("frame-ancestors 'none'")
        .and.to.not.contain('script-src');
      expect(headers['cache-control']).to.equal('no-store');
      expect(headers['referrer-policy']).to.equal('no-referrer');
      expect(headers['x-content-type-options']).to.equal('nosniff');
    }
  });

  it('sets no cookie that other servers on the same host get', async () => {
    const browser = newBrowser();
    const started = await browser.open(authorizeUrl());
    expect(started.status).to.equal(303);
    const submitted = await browser.open(nextUrl(started), formWith({ name: 'ada' }));
    const resumed = await browser.open(nextUrl(submitted));
    const answers = [started, submitted, resumed];
    const lines = answers.flatMap(({ headers }) => headers['set-cookie'] ?? []);
    expect(lines).to.have.length.above(0);
    for (const line of lines) expect(line).to.match(/; path=\/(authorize|login)\b/);
  });

  it('survives any request', async () => {
    const paths = ['/%', '//', '/login/%ff', '/%00.svg', '/..%2f', '/authorize/x'];
    const hostile = ['/token', '/me', '/login/x', '/authorize?code=%&&=&client_id[]=1', '/jwks'];
    for (const path of [...paths, ...hostile]) {
      for (const method of ['GET', 'POST', 'PUT', 'OPTIONS', 'DELETE']) {
        const response = await fetch(issuer + path, {
          method,
          redirect: 'manual',
          ...(method === 'GET' ? {} : { body: '{"a":[[[%', headers: { cookie: 'a=%; ;=' } }),
        });
        expect(response.status, `${method} ${path}`).to.be.below(500);
        await response.body?.cancel();
      }
    }
    expect((await userNamed('ada'))['login']).to.equal('ada');
  });
});

async function jsonObject(response: Response): Promise<Record<string, unknown>> {
  const body: unknown = await response.json();
  if (typeof body !== 'object' || body === null) throw new Error('not a JSON object');
  return { ...body };
}
