import { expect } from 'chai';
import { pino } from 'pino';
import { readConfig } from '../../src/config/config.ts';
import { createRelay } from '../../src/relay/relay.ts';
import { setCookies } from '../harness/browser/cookie-jar.ts';
import { FakeBrowser, navigation, navigationWith } from '../harness/browser/fake-browser.ts';
import { canariesIn, canary } from '../harness/expect/canaries.ts';
import type { Page } from '../harness/provider/pages.ts';
import { answer, html, json, redirect } from '../harness/provider/provider-behaviours.ts';
import { serve } from '../harness/provider/serve.ts';
import { keyFile, secretFile } from '../harness/system/secret-file.ts';
import { checkLogin, code, consent, logIn, secret } from './support/login.ts';

const tokens = {
  access_token: canary('token'),
  token_type: 'bearer',
  expires_in: 3600,
  refresh_token: canary('token'),
};
const key = await keyFile();
const allow = 'allow: { users: [ada_x] }';
const record = json({ sub: 'u-7', preferred_username: 'ada_x' });

/** An ID token for the login, as a provider issues it at the token endpoint. */
function idTokenPages(issuer = 'https://id.example.com') {
  let nonce = '';
  const authorize: Page = (response, request) => {
    nonce = request.query.get('nonce') ?? '';
    consent(response, request);
  };
  const token: Page = (response) => {
    const claims = { iss: issuer, aud: 'client-1', exp: 4e9, nonce, sub: 'u-7', 'cognito:groups': ['staff'] };
    const parts = [{ alg: 'none' }, claims].map((part) => Buffer.from(JSON.stringify(part)).toString('base64url'));
    json({ ...tokens, id_token: `${parts.join('.')}.x` })(response);
  };
  return { '/authorize': authorize, '/token': token };
}

describe('login-relay check --login, at providers that differ', () => {
  it('shows 201, the fields of the record, and that user-id is missing', async () => {
    const pages = { '/token': json(tokens, 201), '/user': json({ data: { id: '2244994945', username: 'ada_x' } }) };
    const { answer: from, on, exitCode } = await checkLogin({ pages, lines: ["allow: { users: ['2244994945'] }"] });
    expect(from('token endpoint')).to.include({ status: 201, contentType: 'application/json' });
    expect(from('user endpoint')?.fields.map(({ name, type }) => `${name} ${type}`)).to.deep.equal([
      'data object',
      'data.id text',
      'data.username text',
    ]);
    const [person] = on('person');
    expect(person).to.deep.include({ verdict: 'problem', message: 'sub is missing: nobody can log in' });
    expect(person?.fix).to.match(/^set providers\.x\.user-id to where the id is, which may be data\.id$/);
    expect(exitCode).to.equal(1);
  });

  it('says what to change for a 201 if there are only flags, and continues', async () => {
    const { on, exitCode } = await checkLogin({
      pages: { '/token': json(tokens, 201), '/user': record },
      isByFlags: true,
    });
    expect(on('token endpoint')[0]?.message).to.equal('answers with status 201, and with flags alone only 200 counts');
    expect(on('token endpoint')[0]?.fix).to.contain('login-relay config migrate');
    expect([on('person')[0]?.verdict, exitCode]).to.deep.equal(['ok', 1]);
  });

  it('names request-headers if every request without a header gets 400', async () => {
    const wantsHeader =
      (page: Page): Page =>
      (response, request) =>
        (request.headers['notion-version'] ? page : json({ code: 'missing_version' }, 400))(response, request);
    const user = { '/token': json(tokens), '/user': wantsHeader(record) };
    const onlyUser = await checkLogin({ pages: user });
    expect(onlyUser.on('user lookup')[0]).to.deep.include({ verdict: 'problem' });
    expect(onlyUser.on('user lookup')[0]?.message).to.contain('status 400');
    expect(onlyUser.on('user lookup')[0]?.fix).to.contain('providers.x.request-headers');
    const everywhere = { ...user, '/token': wantsHeader(json(tokens)) };
    const both = await checkLogin({ pages: everywhere });
    expect(both.on('token endpoint')[0]?.fix).to.contain('providers.x.request-headers');
    const lines = ["request-headers: { Notion-Version: '2022-06-28' }"];
    expect((await checkLogin({ pages: everywhere, lines })).exitCode).to.equal(0);
  });

  it('finds that the user endpoint takes only POST, and goes on with it', async () => {
    const pages = { '/token': json(tokens), 'POST /user': record, 'GET /user': json({}, 405) };
    const { on } = await checkLogin({ pages, lines: [allow, 'user-name: preferred_username'] });
    expect(on('user lookup')[0]).to.deep.include({ verdict: 'problem' });
    expect(on('user lookup')[0]?.fix).to.equal('set providers.x.user-request to post');
    expect(on('who may log in (app at x)')[0]?.message).to.equal('this person may');
    expect(on('person')[0]?.message).to.equal('id u-7, login name ada_x');
  });

  it('finds that the lookup also needs a body', async () => {
    const user: Page = (response, { method, body }) =>
      (method === 'POST' && body === 'null' ? record : json({ error: 'no body' }, 400))(response);
    const { on } = await checkLogin({ pages: { '/token': json(tokens), '/user': user } });
    expect(on('user lookup')[0]?.fix).to.equal(
      "set providers.x.user-request to post, and providers.x.user-body to 'null'",
    );
  });

  it('finds the token in a field, where the token request wants JSON, and both settings', async () => {
    const token: Page = (response, { headers }) =>
      headers['content-type'] === 'application/json'
        ? json({ status: 0, body: tokens })(response)
        : json({ error: 'unsupported_media_type' }, 415)(response);
    const { on, requests } = await checkLogin({ pages: { '/token': token, '/user': record } });
    expect(on('token endpoint').map(({ fix }) => fix)).to.deep.equal([
      'set providers.x.token-request to json',
      'set providers.x.token-answer to body',
    ]);
    expect(on('access token')[0]?.message).to.equal('came with its lifetime and with a refresh token');
    expect(on('refresh')[0]?.verdict).to.equal('ok');
    // The secret never travels in a URL.
    expect(requests.filter(({ url }) => url.search.includes(secret))).to.deep.equal([]);
  });

  it('reads a form-encoded answer', async () => {
    const form = answer(200, `${new URLSearchParams({ access_token: tokens.access_token, scope: 'read,write' })}`, {
      'Content-Type': 'application/x-www-form-urlencoded',
    });
    const found = await checkLogin({ pages: { '/token': form, '/user': record }, lines: ['scope: read write'] });
    expect(found.answer('token endpoint')?.contentType).to.equal('application/x-www-form-urlencoded');
    expect(found.on('scope')[0]?.fix).to.match(
      /^set providers\.x\.answer-scope-separator, or providers\.x\.scope-separator/,
    );
    expect(found.on('refresh')[0]).to.deep.include({ verdict: 'not_checked' });
  });

  it('proposes the ID token where the user lookup fails', async () => {
    const pages = { ...idTokenPages(), '/user': json({}, 404) };
    const lines = ['issuer: https://id.example.com', 'scope: openid'];
    const { on, answer: from } = await checkLogin({ pages, lines });
    expect(on('user lookup')[0]?.verdict).to.equal('problem');
    expect(on('ID token')[0]?.message).to.equal('fits this login: providers.x.user-from could be id-token');
    expect(from('ID token')?.fields.map(({ name }) => name)).to.include('cognito:groups');
  });

  it('reads who it is from the ID token, and says what does not fit', async () => {
    const lines = [
      'issuer: https://id.example.com',
      'scope: openid',
      'user-from: id-token',
      "allow: { groups: [staff], groups-claim: 'cognito:groups' }",
    ];
    const pages = { ...idTokenPages(), '/user': record };
    const right = await checkLogin({ pages, lines });
    expect(right.on('person')[0]?.message).to.match(/^id u-7/);
    expect(right.on('who may log in (app at x)')[0]?.verdict).to.equal('ok');
    expect(right.exitCode).to.equal(0);
    const wrong = await checkLogin({ pages: { ...pages, ...idTokenPages('https://other.example') }, lines });
    expect(wrong.on('who may log in (app at x)')[0]?.message).to.match(/^iss is that of another/);
    expect(wrong.on('person')[0]?.fix).to.contain('providers.x.issuer');
  });

  const mails = json({ id: 7, login: 'ada_n', mails: [{ value: 'ada@example.com', ok: true }], team: ['a', 'b'] });
  const ofMails = ['user-id: id', 'user-name: login', 'user-email: mails.0.value', 'user-email-verified: mails.0.ok'];
  const withResource = (domain: string) => ({
    pages: { '/token': json(tokens), '/user': mails },
    frontEnd: "{ origin: 'http://localhost:5173', token-delivery: code, resources: [notes] }",
    relay: `key-file: ${key}
resources:
  notes: { url: http://localhost:7001/mcp, provider: x, identity: [email, groups], allow: { email-domains: [${domain}], groups-claim: team } }`,
  });

  it('says for each resource who it is, and of an address the domain only', async () => {
    const { on, report } = await checkLogin({ ...withResource('example.com'), lines: ofMails });
    const who = 'this person may: id 7, login name ada_n, a verified address at example.com, 2 groups';
    expect(on('who may use notes (app at x)')[0]).to.deep.include({ verdict: 'ok', message: who });
    expect(JSON.stringify(report)).not.to.contain('ada@');
  });

  it('says which rule refuses, and proposes where id, name, address and its verification may be', async () => {
    const refused = await checkLogin({ ...withResource('example.org'), lines: ofMails });
    expect(refused.on('who may use notes (app at x)')[0]?.message).to.match(
      /^allow refuses this person \(resources\.notes\)/,
    );
    expect(refused.exitCode).to.equal(0);
    const { on } = await checkLogin(withResource('example.com'));
    expect(on('person')[0]?.fix).to.equal('set providers.x.user-id to where the id is, which may be id');
    expect(on('e-mail address')[0]?.fix).to.contain(
      'providers.x.user-email to where it is, which may be mails.0.value',
    );
    const named = await checkLogin({
      ...withResource('example.com'),
      lines: ['user-id: id', 'user-email: mails.0.value', 'user-email-verified: nothing'],
    });
    expect(named.on('login name')[0]?.message).to.contain('providers.x.user-name to where it is, which may be login');
    expect(named.on('e-mail address')[0]?.fix).to.contain('providers.x.user-email-verified');
  });

  for (const [name, page, message] of [
    ['an unknown client', json({ error: 'invalid_client' }, 401), /does not accept the client identifier/],
    ['a wrong address', json({}, 404), /status 404/],
    ['a page', html(200, 'Welcome'), /HTML page/],
    ['an answer without a token', json({ ok: true }), /no access token/],
  ] as const) {
    it(`explains ${name} at the token endpoint, and sends no further request`, async () => {
      const { on, requests } = await checkLogin({ pages: { '/token': page } });
      expect(on('token endpoint')).to.have.length(1);
      expect(on('token endpoint')[0]?.message).to.match(message);
      expect(requests.some(({ url }) => url.pathname === '/user')).to.equal(false);
    });
  }

  it('says that a form is not accepted as an answer if there are only flags', async () => {
    const form = answer(200, `${new URLSearchParams({ access_token: tokens.access_token })}`, {
      'Content-Type': 'application/x-www-form-urlencoded',
    });
    const { on, exitCode } = await checkLogin({ pages: { '/token': form, '/user': record }, isByFlags: true });
    expect(on('token endpoint')[0]?.message).to.equal('answers with a form, and with flags alone only JSON counts');
    expect([on('person')[0]?.verdict, exitCode]).to.deep.equal(['ok', 1]);
  });

  it('finds in a single run that secret, token, method, id, name, address and refresh need other settings', async () => {
    const token: Page = (response, { headers, body }) => {
      if (headers['content-type'] !== 'application/json') return json({ error: 'invalid_request' }, 400)(response);
      const isRefresh = body.includes('refresh_token');
      return json(isRefresh ? { error: 'unsupported_grant_type' } : { data: tokens }, isRefresh ? 400 : 201)(response);
    };
    const user = json({ account: { id: 7, handle: 'ada_x', mail: 'ada@example.com', is_verified: true } });
    const { on, exitCode, report } = await checkLogin({
      pages: { '/token': token, 'POST /user': user },
      lines: ['allow: { users: [ada_x], email-domains: [example.com] }'],
    });
    const advice = report.findings.map(({ message, fix }) => `${message} ${fix}`).join('\n');
    for (const setting of [
      'set providers.x.token-request to json',
      'set providers.x.token-answer to data',
      'set providers.x.user-request to post',
      'set providers.x.user-id to where the id is, which may be account.id',
      'set providers.x.user-name to where it is, which may be account.handle',
      'set providers.x.user-email to where it is, which may be account.mail',
      'set providers.x.user-email-verified to where the provider says it, which may be account.is_verified',
      'set providers.x.refresh-url',
    ]) {
      expect(advice).to.contain(setting);
    }
    expect([on('person')[0]?.verdict, exitCode]).to.deep.equal(['problem', 1]);
  });

  it('proposes no address as a login name, and no other address if one is already read', async () => {
    const zitadel = json({ sub: '1638', preferred_username: 'ada@example.com', email: 'ada@example.com' });
    const address = await checkLogin({ pages: { '/token': json(tokens), '/user': zitadel } });
    expect([address.on('person')[0]?.message, address.on('login name')]).to.deep.equal(['id 1638, no login name', []]);
    const both = json({ id: 7, username: 'ada_x', handle: 'ada' });
    const named = await checkLogin({ pages: { '/token': json(tokens), '/user': both }, lines: ['user-name: handle'] });
    expect(named.on('login name')).to.deep.equal([]);
  });

  it('says where refresh tokens may have to go', async () => {
    const token: Page = (response, { form }) =>
      (form.get('grant_type') === 'refresh_token' ? json({ error: 'invalid_grant' }, 400) : json(tokens))(response);
    const { on } = await checkLogin({ pages: { '/token': token, '/user': record } });
    expect(on('refresh')[0]?.verdict).to.equal('problem');
    expect(on('refresh')[0]?.fix).to.contain('providers.x.refresh-url');
  });

  it('revokes every token of the check at the end', async () => {
    const later = { ...tokens, access_token: canary('token'), refresh_token: canary('token') };
    const token: Page = (response, { form }) =>
      json(form.get('grant_type') === 'refresh_token' ? later : tokens)(response);
    const pages = { '/token': token, '/user': json({}, 500), '/revoke': json({}) };
    const { on, requests } = await checkLogin({ pages, lines: ['revocation-url: P/revoke'] });
    const revoked = requests.filter(({ url }) => url.pathname === '/revoke').map(({ form }) => form.get('token'));
    expect(new Set(revoked)).to.deep.equal(
      new Set([later.refresh_token, later.access_token, tokens.refresh_token, tokens.access_token]),
    );
    expect(on('revocation')[0]?.verdict).to.equal('ok');
  });
});

describe('login-relay check --login, and what must not be seen', () => {
  it('shows no value of any answer, no token and no code, even if names and types repeat them', async () => {
    const everywhere = (more: object = {}) => ({
      [canary('token')]: canary('token'),
      [tokens.access_token]: { [code]: canary('code') },
      message: canary('secret'),
      scope: canary('token'),
      list: [{ value: canary('code') }, canary('token')],
      'esc\u001b[31m\u0007': canary('token'),
      ...more,
    });
    const typed = (page: object, status = 200) =>
      answer(status, JSON.stringify(page), {
        'Content-Type': `application/json; x=${canary('token')}`,
        'X-A': canary('code'),
      });
    const user = { data: { id: 'u-7', note: canary('secret') } };
    for (const pages of [
      { '/token': typed(everywhere(tokens)), '/user': typed(everywhere(user)), '/revoke': typed(everywhere(), 400) },
      { '/token': typed(everywhere({ error: canary('code') }), 400) },
      { '/token': typed(tokens), '/user': typed(everywhere(), 403) },
    ]) {
      const lines = ['revocation-url: P/revoke', 'user-id: data.id', 'scope: read'];
      const { report, said } = await checkLogin({ pages, lines });
      expect([...canariesIn(JSON.stringify(report) + said)]).to.deep.equal([]);
      expect(JSON.stringify(report)).not.to.contain('\\u001b');
    }
  });

  it('does not accept a login that the relay with the same keys has started', async () => {
    const found = await checkLogin({
      pages: { '/token': json(tokens), '/user': record },
      frontEnd: "{ origin: 'http://localhost:5173' }",
      async act(startUrl, _, configuration) {
        const { config } = readConfig({
          flags: { config: ['file'] },
          environment: {},
          readFile: () => ({ text: configuration, readableByOthers: false }),
        });
        const relay = await createRelay(config, pino({ enabled: false }));
        const before = await serve(relay.listener);
        const visitor = new FakeBrowser();
        const started = await visitor.open(`http://127.0.0.1:${before.port}/auth/x`);
        const { searchParams } = new URL(`${started.headers.location}`);
        const [cookie] = setCookies(started);
        const headers: [string, string][] = [...navigation, ['Cookie', `${cookie?.name}=${cookie?.value}`]];
        const callback = `${searchParams.get('redirect_uri')}?code=visitor&state=${searchParams.get('state')}`;
        const page = await new FakeBrowser().open(callback, { headers });
        relay.close();
        await before.close();
        expect(page.status).to.equal(400);
        return await logIn(startUrl);
      },
    });
    expect(found.said).to.contain('(front_end_gone)');
    const codes = found.requests.filter(({ url }) => url.pathname === '/token').map(({ form }) => form.get('code'));
    expect(codes.filter((one) => one !== null)).to.deep.equal([code]);
  });

  it('ends early if it is stopped between two calls, and revokes what it has got', async () => {
    let stop = () => {};
    const token: Page = (response) => {
      stop();
      json(tokens)(response);
    };
    const { requests, on, exitCode } = await checkLogin({
      pages: { '/token': token, '/user': record, '/revoke': json({}) },
      lines: ['revocation-url: P/revoke'],
      async act(startUrl, stopCheck) {
        stop = stopCheck;
        return await logIn(startUrl);
      },
    });
    const asked = requests.map(({ url }) => url.pathname);
    expect(asked).to.include('/revoke').and.not.include('/user');
    expect(on('login')[0]?.message).to.equal('stopped, so nothing else was asked');
    expect([on('revocation')[0]?.verdict, exitCode]).to.deep.equal(['ok', 1]);
  });

  it('ends only by its own login, and not by a stranger', async () => {
    const found = await checkLogin({
      pages: { '/token': json(tokens), '/user': record },
      async act(startUrl) {
        const { origin } = new URL(startUrl);
        const stranger = new FakeBrowser();
        const callback = `${origin}/auth/x/callback`;
        for (const query of ['?code=c', '?error=access_denied', '?code=c&state=x', ''])
          await stranger.visit(callback + query);
        // The start has a name that nobody can guess, and is not in a frame or a prefetch.
        expect((await stranger.visit(`${origin}/auth/x`)).status).to.equal(404);
        expect((await stranger.visit(`${origin}/auth/x/app`)).status).to.equal(404);
        const early = await stranger.open(startUrl, { headers: navigationWith('Sec-Purpose', 'prefetch') });
        expect(early.status).to.equal(503);
        expect((await stranger.visit(`${origin}/readyz`)).status).to.equal(200);
        return await logIn(startUrl);
      },
    });
    expect(found.exitCode).to.equal(0);
    expect(found.said).to.match(/does not belong to this login \(state_missing\)/);
    // Each kind is named once, and no call was made.
    expect(found.requests.filter(({ url }) => url.pathname === '/token')).to.have.length(2);
    expect(`${found.page.body}`).to.contain('The login has arrived').and.not.contain('ada_x');
  });

  it('takes the first of two logins, and exchanges no other code', async () => {
    const found = await checkLogin({
      pages: { '/token': json({ access_token: canary('token') }), '/user': record },
      async act(startUrl) {
        const first = new FakeBrowser();
        const second = new FakeBrowser();
        const requests = await Promise.all([first.open(startUrl), second.open(startUrl)]);
        const states = requests.map(({ headers }) => new URL(`${headers.location}`).searchParams);
        const end = (browser: FakeBrowser, index: number) =>
          browser.visit(`${states[index]?.get('redirect_uri')}?code=c${index}&state=${states[index]?.get('state')}`);
        const page = await end(first, 0);
        await end(second, 1).catch(() => {});
        return page;
      },
    });
    const codes = found.requests.filter(({ url }) => url.pathname === '/token').map(({ form }) => form.get('code'));
    expect(codes).to.deep.equal(['c0']);
  });

  it('tells a denied login, a time that is over, and a stop', async () => {
    const denied: Page = (response, { query }) =>
      redirect(`${query.get('redirect_uri')}?error=invalid_scope&state=${query.get('state')}`)(response);
    const refused = await checkLogin({ pages: { '/authorize': denied } });
    expect(refused.on('login')[0]?.message).to.contain('invalid_scope');
    expect(refused.on('login')[0]?.fix).to.contain('providers.x.scope-separator');
    const late = await checkLogin({ patience: 50, act: async () => {} });
    expect(late.on('login')[0]?.message).to.equal('no login came back in time');
    expect(late.on('login')[0]?.fix).to.contain('/auth/x/callback');
    const stopped = await checkLogin({ act: async (_, stop) => stop() });
    expect(stopped.on('login')[0]?.message).to.equal('stopped before a login came back');
    expect([refused, late, stopped].map(({ exitCode }) => exitCode)).to.deep.equal([1, 1, 1]);
  });

  it('never takes the place of what listens there already', async () => {
    const relay = await serve((_, response) => response.end());
    try {
      const { on, said } = await checkLogin({ relay: `host: 127.0.0.1\n`, taken: relay.port });
      expect(on('login')[0]?.fix).to.match(
        /^stop it for a minute \(with systemd, login-relay.socket, too\); or give another .*port.* \/auth\/ there/,
      );
      expect(said).to.equal('');
    } finally {
      await relay.close();
    }
  });
});

describe('login-relay check --login, and the configuration', () => {
  it('works with a callback path, and below the path of a base URL', async () => {
    const pages = { '/token': json(tokens), '/user': record };
    const own = await checkLogin({ pages, lines: ['callback-path: /oauth2/callback'] });
    expect([own.exitCode, own.report.callbackUrl]).to.deep.equal([0, `http://127.0.0.1:${own.port}/oauth2/callback`]);
    expect((await checkLogin({ pages, basePath: '/sso' })).exitCode).to.equal(0);
  });

  for (const [name, frontEnd, refreshes] of [
    ['a page with a code', "{ origin: 'http://localhost:5173', token-delivery: code }", true],
    [
      'a page without refreshes',
      "{ origin: 'http://localhost:5173', token-delivery: code, refresh-tokens: off }",
      false,
    ],
    ['a page that reads its token in the query', "{ origin: 'http://localhost:5173' }", true],
    ['a session', "{ origin: 'http://127.0.0.1:5173', token-delivery: session }", true],
    ['a CMS', "{ origin: 'http://localhost:5173', token-delivery: cms, refresh-tokens: bearer }", true],
    ['a program', "{ kind: native, redirect-uris: ['http://127.0.0.1/callback'] }", true],
    ['unregistered programs', '{ kind: native, clients: { registration: true } }', true],
  ] as const) {
    it(`logs in as the logins of ${name} do`, async () => {
      const relay = `key-file: ${key}`;
      const lines = ['provider: github', 'scope: read', 'authorize-params: access_type=offline'];
      const user = json({ id: 7, login: 'ada' });
      const { exitCode, said, report } = await checkLogin({
        pages: { '/token': json(tokens), '/user': user },
        frontEnd,
        relay,
        lines,
      });
      expect(report.findings.filter(({ verdict }) => verdict === 'problem')).to.deep.equal([]);
      expect([exitCode, said.includes('asks for a refresh token')]).to.deep.equal([0, refreshes]);
    });
  }

  it('works without a state check, and then sends no PKCE, as the relay does', async () => {
    const pages = { '/token': json(tokens), '/user': record };
    const frontEnd = "{ origin: 'http://localhost:5173' }";
    const { exitCode, requests } = await checkLogin({ pages, lines: ['state-check: off'], frontEnd });
    expect(exitCode).to.equal(0);
    const started = requests.find(({ url }) => url.pathname === '/authorize');
    expect(started?.query.has('code_challenge')).to.equal(false);
    expect(started?.query.get('state')).to.be.a('string');
  });

  it('logs in for a front end of people, and says so if there is none', async () => {
    const pages = { '/token': json(tokens), '/user': record };
    const relay = `key-file: ${key}
resources:
  notes: { url: http://localhost:7001/mcp, provider: x }`;
    const machineSecret = await secretFile(canary('secret'));
    const machine = `{ kind: machine, secret-file: ${machineSecret}, resources: [notes] }`;
    const alone = await checkLogin({ pages, relay, frontEnd: machine });
    expect(alone.on('login')[0]?.message).to.equal('no front end of x logs people in');
    const page = "{ origin: 'http://localhost:5173', token-delivery: code, resources: [notes] }";
    const frontEnd = `${machine}\n  page: ${page}`;
    const both = await checkLogin({ pages, relay, frontEnd });
    expect([both.exitCode, both.on('who may use notes (page at x)')[0]?.verdict]).to.deep.equal([0, 'ok']);
    const named = await checkLogin({ pages, relay, frontEnd }, 'x/app');
    expect(named.on('login')[0]?.fix).to.equal('it is one of page');
  });

  it('logs in as browsers at a resource do, if nobody else logs in', async () => {
    const pages = { '/token': json(tokens), '/user': record };
    const relay = `key-file: ${key}
resources:
  wiki: { url: http://wiki.localhost:7001/, upstream: http://localhost:7002/, provider: x, browser: true }`;
    const machine = `{ kind: machine, secret-file: ${await secretFile(canary('secret'))}, resources: [wiki] }`;
    const { exitCode, said, on } = await checkLogin({ pages, relay, frontEnd: machine });
    expect(said).to.include('The login is that of browsers at x.');
    expect(on('who may use wiki (browsers at x)')[0]).to.include({ verdict: 'ok' });
    expect(exitCode).to.equal(0);
  });

  it('asks which provider, and takes its name, with a front end', async () => {
    const second = `  y: { client-id: c, client-secret: ${secret}, authorize-url: P/authorize, token-url: P/token, user-url: P/user }`;
    const setting = { pages: { '/token': json(tokens), '/user': record }, second };
    const which = await checkLogin(setting);
    expect([which.exitCode, which.on('login')[0]?.fix]).to.deep.equal([2, 'say which: --login x, --login y']);
    expect((await checkLogin(setting, 'y')).report.callbackUrl).to.match(/\/auth\/y\/callback$/);
    expect((await checkLogin(setting, 'y/app')).exitCode).to.equal(0);
    expect((await checkLogin(setting, 'z')).on('login')[0]?.fix).to.equal('it is one of x, y');
    expect((await checkLogin(setting, 'y/none')).on('login')[0]?.fix).to.equal('it is one of app');
  });
});
