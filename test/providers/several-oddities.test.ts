import type { IncomingHttpHeaders } from 'node:http';
import { expect } from 'chai';
import { FakeBrowser } from '../harness/browser/fake-browser.ts';
import { send } from '../harness/client/http-client.ts';
import { newProofKey } from '../harness/client/proof.ts';
import { expectRedirect } from '../harness/expect/expectations.ts';
import { logInTo, oauthStart, redemption, requestToken } from '../harness/login/oauth-front-end.ts';
import { OAuthPage, tokensOf } from '../harness/login/oauth-page.ts';
import { json } from '../harness/provider/provider-behaviours.ts';
import { type Serving, serve } from '../harness/provider/serve.ts';
import { startedOnce } from '../harness/system/started-once.ts';
import { fieldsOf, OddProvider, type Pages } from './support/odd-provider.ts';

/** The form of requests that the provider accepts. It refuses all others. */
const lines = [
  'provider: github',
  'token-request: json',
  'token-answer: body',
  'refresh-url: P/refresh',
  'revocation-url: P/revoke',
  'user-request: post',
  "user-body: 'null'",
  "request-headers: { X-Version: '7' }",
  "scope-separator: ','",
  'user-id: data.id',
  'user-name: data.handle',
  'token-fields: [instance_url]',
  'callback-path: /oauth2/callback',
  'scope: repo read:user',
];

const record = { data: { id: 7, handle: 'ada' } };
const person = json(record);
const refused = json({ errors: [{ errorType: 'invalid_request' }] }, 400);

/** A provider that differs in eleven ways, which gives a new pair of tokens each time. */
function oddPages(): Pages {
  let count = 0;
  let newest = '';
  const grant = () => {
    count += 1;
    newest = `RT${count}`;
    const body = { access_token: `AT${count}`, token_type: 'bearer', expires_in: 3600, refresh_token: newest };
    const more = { scope: 'repo,read:user', instance_url: 'https://one.example' };
    return json({ status: 0, body: { ...body, ...more } }, 201);
  };
  const parsed = (body: string) => JSON.parse(body || '{}');
  const isVersion = (headers: IncomingHttpHeaders) => headers['x-version'] === '7';
  const isJson = (headers: IncomingHttpHeaders) => isVersion(headers) && headers['content-type'] === 'application/json';
  return {
    '/token': (response, { headers, body }) =>
      (isJson(headers) && parsed(body).grant_type === 'authorization_code' ? grant() : refused)(response),
    '/refresh': (response, { headers, body }) =>
      (isJson(headers) && parsed(body).refresh_token === newest ? grant() : refused)(response),
    '/user': (response, { method, headers, body }) =>
      (isJson(headers) && method === 'POST' && body === 'null' ? person : refused)(response),
    '/revoke': (response, { headers }) => (isVersion(headers) ? json({}) : refused)(response),
  };
}

describe('a provider that differs in eleven ways at once serves', () => {
  const odd = startedOnce(
    'the provider',
    () => OddProvider.start(),
    (one) => one.stop(),
  );

  it('a page whose refresh tokens have a key', async () => {
    await odd().use({ lines, pages: oddPages(), delivery: 'bound', frontEnd: 'allow: { users: [ada] }' });
    const page = new OAuthPage(odd(), odd(), await newProofKey());
    const first = await page.logIn();
    expect(first).to.include({ accessToken: 'AT1', scope: 'repo read:user' });
    expect(tokensOf(await page.refresh(first.refreshToken))).to.include({ accessToken: 'AT2' });
  });

  it('a page with bearer refresh tokens, which it revokes', async () => {
    await odd().use({ lines, pages: oddPages(), frontEnd: "allow: { users: ['7'] }" });
    const { refresh_token: first } = fieldsOf(await odd().logIn());
    const { access_token, refresh_token: token, instance_url: instance } = fieldsOf(await odd().refresh(`${first}`));
    expect([access_token, instance]).to.deep.equal(['AT2', 'https://one.example']);
    const sending = { path: '/auth/provider/revoke' };
    expect((await requestToken(odd(), { client_id: 'app', token: `${token}` }, [], sending)).status).to.equal(200);
    expect(odd().asked('/revoke')).to.have.length(1);
  });

  it('a page with a session, which is renewed and ended', async () => {
    await odd().use({ lines, pages: oddPages(), delivery: 'session' });
    const page = await odd().session();
    expect(fieldsOf(await page.lookUp())).to.deep.equal(record);
    expect(fieldsOf(await page.describe())).to.include({ instance_url: 'https://one.example' });
    expect((await page.refresh()).status).to.equal(200);
    expect(odd().asked('/refresh')).to.have.length(1);
    expect((await page.logOut()).status).to.equal(200);
    expect(odd().asked('/revoke').length).to.be.above(0);
  });

  it('a page that reads its token in the query', async () => {
    await odd().use({ lines, pages: oddPages(), delivery: 'query' });
    const location = expectRedirect(await odd().callback());
    expect(location.searchParams.get('access_token')).to.equal('AT1');
    const headers: [string, string][] = [['Authorization', 'Bearer AT1']];
    expect(fieldsOf(await send(odd().port, { path: '/api/user', headers }))).to.deep.equal(record);
    expect(location.href).not.to.contain('one.example');
  });

  it('a CMS', async () => {
    await odd().use({ lines, pages: oddPages(), delivery: 'cms' });
    const browser = new FakeBrowser(() => odd());
    const start = '/auth?provider=github&site_id=any.example&scope=repo';
    const { status, body } = await browser.open(await browser.consent(odd(), start));
    expect(status).to.equal(200);
    expect(`${body}`).to.contain('AT1');
  });

  describe('a resource', () => {
    let upstream: Serving;
    const passed: IncomingHttpHeaders[] = [];
    before(async () => {
      upstream = await serve(({ headers }, response) => {
        passed.push(headers);
        response.end('hello');
      });
    });
    after(() => upstream.close());

    it('behind the gateway, which learns who it is', async () => {
      const url = 'https://wiki.example.com/';
      const relay = `resources:\n  wiki: { url: ${url}, upstream: http://127.0.0.1:${upstream.port}/ }`;
      await odd().use({ lines, pages: oddPages(), frontEnd: 'resources: [wiki]', relay });
      const start = oauthStart({ resource: url });
      const response = await logInTo(new FakeBrowser(() => odd()), { provider: odd() }, start);
      const { access_token: token } = fieldsOf(await requestToken(odd(), redemption(response, { resource: url })));
      const headers: [string, string][] = [['Authorization', `Bearer ${token}`]];
      const answer = await send(odd().port, { path: '/', authority: 'wiki.example.com', headers });
      expect([answer.status, `${answer.body}`]).to.deep.equal([200, 'hello']);
      expect(passed[0]).to.include({ 'x-forwarded-user': '7', 'x-forwarded-preferred-username': 'ada' });
      // The headers for the provider must not be sent to anybody else.
      expect(passed[0]).to.not.have.property('x-version');
    });
  });
});
