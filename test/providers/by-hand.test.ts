import { expect } from 'chai';
import { formatConfigFile } from '../../src/config/shown/print.ts';
import { ConfigError } from '../../src/failures/start-errors.ts';
import { readFileConfig } from '../config/support/read.ts';
import { FakeBrowser } from '../harness/browser/fake-browser.ts';
import { send } from '../harness/client/http-client.ts';
import { expectRedirect } from '../harness/expect/expectations.ts';
import {
  expectOAuthError,
  logInTo,
  oauthStart,
  openStart,
  redemption,
  requestToken,
} from '../harness/login/oauth-front-end.ts';
import type { PageRequest } from '../harness/provider/pages.ts';
import { answer, json } from '../harness/provider/provider-behaviours.ts';
import { startedOnce } from '../harness/system/started-once.ts';
import { fieldsOf, OddProvider, type Pages } from './support/odd-provider.ts';

const tokens = { access_token: 'AT1', token_type: 'bearer', expires_in: 3600, refresh_token: 'RT1' };

describe('a provider by hand', () => {
  const odd = startedOnce(
    'the provider',
    () => OddProvider.start(),
    (one) => one.stop(),
  );

  /** Looks the user up with an access token. */
  const lookUp = (token = 'AT1') =>
    send(odd().port, { path: '/api/user', headers: [['Authorization', `Bearer ${token}`]] });

  /** Logs in, refreshes, looks up and revokes. Returns the requests of each endpoint. */
  async function everyCall(): Promise<Readonly<Record<string, PageRequest[]>>> {
    const { refresh_token: token } = fieldsOf(await odd().logIn());
    odd().ahead = 3_601_000;
    fieldsOf(await odd().refresh(`${token}`));
    fieldsOf(await lookUp());
    const parameters = { client_id: 'app', token: `${token}` };
    await requestToken(odd(), parameters, [], { path: '/auth/provider/revoke' });
    return Object.groupBy(odd().requests, ({ url }) => url.pathname) as Record<string, PageRequest[]>;
  }

  it('gets its headers with codes, refreshes, lookups and revocations, not with discovery', async () => {
    const headers = "request-headers: { Notion-Version: '2022-06-28', X-Key: header-canary, Accept: application/x }";
    const P = odd().origin;
    const wanting: Pages = {
      '/.well-known/openid-configuration': (response, request) => {
        discovered.push(request);
        json({
          issuer: P,
          authorization_endpoint: `${P}/authorize`,
          token_endpoint: `${P}/token`,
          userinfo_endpoint: `${P}/user`,
          revocation_endpoint: `${P}/revoke`,
        })(response);
      },
      '/revoke': json({}),
    };
    const discovered: PageRequest[] = [];
    for (const setting of [
      { lines: [headers, `revocation-url: ${P}/revoke`] },
      { lines: [headers, `issuer: ${P}`], isDiscovered: true },
    ]) {
      await odd().use({ ...setting, pages: wanting });
      const asked = await everyCall();
      expect(Object.keys(asked)).to.have.members(['/token', '/user', '/revoke']);
      expect(asked['/token']).to.have.length(2);
      for (const { headers: sent } of Object.values(asked).flat()) {
        expect(sent).to.include({ 'notion-version': '2022-06-28', 'x-key': 'header-canary', accept: 'application/x' });
      }
      expect(odd().lines.join('')).to.not.contain('header-canary');
    }
    expect(discovered).to.have.length(1);
    expect(discovered[0]?.headers).to.not.have.property('notion-version');
  });

  it('has the values of its headers in no output, and in no fault', () => {
    const secret = 'header-canary-1a2b3c';
    const { readings } = readFileConfig(odd().file({ lines: [`request-headers: { X-Key: ${secret}, X-Other: 7 }`] }));
    expect(formatConfigFile(readings)).to.match(/request-headers: \{X-Key: "?\[secret\]"?, X-Other: "?\[secret\]"?\}/);
    for (const value of [
      `"${secret}\\n"`,
      `"${secret}\\r\\nX-Evil: 1"`,
      `"${secret}\\0"`,
      `é${secret}`,
      `" ${secret}"`,
      `[${secret}]`,
    ]) {
      const faults = faultsOf([`request-headers: { X-Key: ${value} }`]);
      expect(faults, value).to.have.length(1);
      expect(faults[0], value)
        .to.match(/^config\.yaml:\d+:5 providers\.provider\.request-headers /)
        .and.not.contain('canary');
    }
  });

  it('warns of a header that may be a secret, in a file that others can read', () => {
    const warned = (value: string) => {
      const text = odd().file({ lines: [`request-headers: { X-Key: ${value} }`] });
      const { warnings } = readFileConfig(text, { files: { 'config.yaml': { text, readableByOthers: true } } });
      return warnings.filter((one) => one.includes('request-headers'));
    };
    expect(warned("'2022-06-28'")).to.deep.equal([]);
    expect(warned('header-canary-1a2b3c')).to.have.length(1);
    expect(warned('header-canary-1a2b3c')[0]).to.contain('chmod 600').and.not.contain('canary');
  });

  const ownHeaders = [
    'Authorization',
    'Host',
    'Cookie',
    'Content-Length',
    'Transfer-Encoding',
    'Connection',
    'Content-Type',
    'TE',
    'Proxy-Authorization',
    'Keep-Alive',
    'Upgrade',
    'Trailer',
    'Expect',
    'Accept-Encoding',
    'content_length',
  ];
  for (const name of ownHeaders) {
    it(`cannot set ${name}, which would change who asks, or what is sent`, () => {
      const [fault, ...more] = faultsOf([`request-headers: { X-Good: a, ${name}: header-canary }`]);
      expect(more).to.deep.equal([]);
      expect(fault).to.contain(`must not have ${name.toLowerCase()}`).and.not.contain('canary');
    });
  }

  it('cannot have an invalid header', () => {
    for (const line of [
      "{ 'X Y': a }",
      "{ 'X-Y\\n': a }",
      "{ 'X:Y': a }",
      '{ "": a }',
      '{ X-Y: }',
      '{ X-Y: "" }',
      '{}',
      'X-Y',
      '[X-Y]',
      '{ X-Y: a, x-y: b }',
    ]) {
      expect(faultsOf([`request-headers: ${line}`]), line).to.have.length(1);
    }
  });

  for (const [lines, body, type] of [
    [['user-request: post'], '', undefined],
    [['user-request: post', "user-body: 'null'"], 'null', 'application/json'],
    [['user-request: post', `user-body: '{"query":"{ me }"}'`], '{"query":"{ me }"}', 'application/json'],
  ] as const) {
    it(`is asked for its user by POST, with the body ${body || 'of nothing'}`, async () => {
      const byPost: Pages = { 'POST /user': json({ sub: '7' }, 201), 'GET /user': json({}, 405) };
      await odd().use({ lines, pages: byPost, frontEnd: "allow: { users: ['7'] }" });
      const answered = await everyCall();
      expect(answered['/user']?.length).to.be.above(1);
      for (const request of answered['/user'] ?? []) {
        expect([request.method, request.body, request.headers['content-type']]).to.deep.equal(['POST', body, type]);
        expect(request.headers['content-length']).to.equal(`${body.length}`);
        expect(request.headers.authorization).to.equal('Bearer AT1');
      }
    });
  }

  it('cannot get a body with a GET, or a body that is not JSON', () => {
    expect(faultsOf(["user-body: 'null'"])[0])
      .to.contain('needs')
      .and.contain('post');
    for (const body of ["'{'", 'a: b', 'x', '""']) {
      expect(faultsOf(['user-request: post', `user-body: ${body}`]), body).to.have.length(1);
    }
  });

  describe('with metadata elsewhere', () => {
    const issuer = 'https://login.example/GUID/v2.0/';
    const path = '/tenant/policy/v2.0/.well-known/openid-configuration';
    const lines = [`issuer: ${issuer}`, `metadata-url: P${path}`];
    const metadata = (name: unknown, more = {}) =>
      json({
        issuer: name,
        authorization_endpoint: `${odd().origin}/authorize`,
        token_endpoint: `${odd().origin}/token`,
        userinfo_endpoint: `${odd().origin}/user`,
        ...more,
      });

    it('works, if they name the issuer', async () => {
      await odd().use({ lines, isDiscovered: true, pages: { [path]: metadata(issuer) } });
      expect(fieldsOf(await odd().logIn())).to.include({ access_token: 'AT1' });
    });

    it('works with a byte order mark in front of them', async () => {
      const marked = answer(
        200,
        `\uFEFF${JSON.stringify({
          issuer,
          authorization_endpoint: `${odd().origin}/authorize`,
          token_endpoint: `${odd().origin}/token`,
          userinfo_endpoint: `${odd().origin}/user`,
        })}`,
      );
      await odd().use({ lines, isDiscovered: true, pages: { [path]: marked } });
      expect(fieldsOf(await odd().logIn())).to.include({ access_token: 'AT1' });
    });

    it('is refused if the metadata are of another issuer', async () => {
      for (const other of ['https://login.example/GUID/v2.0', `${odd().origin}/tenant/policy/v2.0/`, undefined]) {
        await odd().use({ lines, isDiscovered: true, pages: { [path]: metadata(other) } });
        const failed = expectRedirect(await openStart(new FakeBrowser(() => odd()), oauthStart()));
        expect(failed.searchParams.get('error'), other).to.equal('temporarily_unavailable');
        expect(odd().lines.join('')).to.contain('issuer_mismatch');
      }
    });

    it('compares the issuer of a response, and takes another issuer for an attack', async () => {
      await odd().use({ lines, isDiscovered: true, delivery: 'query', pages: { [path]: metadata(issuer) } });
      const browser = new FakeBrowser(() => odd());
      const callback = new URL(await browser.consent(odd()));
      callback.searchParams.set('iss', odd().origin);
      const { status, body } = await browser.open(callback.href);
      expect(status).to.equal(400);
      expect(`${body}`).to.contain('not come from the provider');
      expect(odd().asked('/token')).to.deep.equal([]);
    });

    it('needs an issuer', () => {
      const faults = faultsOf([`metadata-url: ${odd().origin}${path}`]);
      expect(faults).to.have.length(1);
      expect(faults[0]).to.match(/metadata-url .*needs .*issuer/);
    });
  });

  it('is not asked what its three URLs say, however its issuer answers', async () => {
    await odd().use({ lines: ['issuer: https://sso.invalid.example'] });
    const request = await odd().startedAt(`?${new URLSearchParams(oauthStart().parameters as Record<string, string>)}`);
    expect(request.searchParams.get('scope')).to.equal('openid');
    expect(fieldsOf(await odd().logIn())).to.include({ access_token: 'AT1' });
    expect(odd().asked('/token').at(-1)?.headers.authorization).to.match(/^Basic /);
    expect(odd().lines.join('')).to.not.contain('discovery');
    await odd().use({ lines: ['issuer: https://sso.invalid.example'], delivery: 'query' });
    for (const [issuer, status] of Object.entries({ invalid: 307, other: 400 })) {
      const browser = new FakeBrowser(() => odd());
      const callback = new URL(await browser.consent(odd()));
      callback.searchParams.set('iss', `https://sso.${issuer}.example`);
      expect((await browser.open(callback.href)).status, issuer).to.equal(status);
    }
  });

  it('has a user record with a byte order mark, which a front end gets as it is', async () => {
    const record = '\uFEFF{"sub":"7","login":"ada"}';
    await odd().use({ pages: { '/user': answer(200, record) }, frontEnd: "allow: { users: ['7'] }" });
    fieldsOf(await odd().logIn());
    const { status, body } = await lookUp();
    expect(status).to.equal(200);
    expect(body.equals(Buffer.from(record))).to.equal(true);
  });

  it('has its tokens in a field of the answer, also of a refresh', async () => {
    const nested = json({ status: 0, body: { ...tokens, scope: 'user.info,user.metrics' } });
    const lines = ['token-answer: body', "answer-scope-separator: ','"];
    await odd().use({ lines, pages: { '/token': nested } });
    const { refresh_token: token, ...login } = fieldsOf(await odd().logIn());
    expect(login).to.include({ access_token: 'AT1', scope: 'user.info user.metrics' });
    expect(fieldsOf(await odd().refresh(`${token}`))).to.include({ access_token: 'AT1' });
    for (const field of ['__proto__', 'constructor', 'toString']) {
      await odd().use({ lines: [`token-answer: ${field}`], pages: { '/token': nested } });
      expectOAuthError(await odd().logIn(), 'server_error', 502);
    }
  });

  it('gets its token requests in JSON, with the secret in them', async () => {
    const picky: Pages = {
      '/token': (response, { headers }) =>
        (headers['content-type'] === 'application/json' ? json(tokens) : json({}, 415))(response),
      '/revoke': json({}),
    };
    const lines = ['token-request: json', 'token-params: resource=a&resource=b', 'revocation-url: P/revoke'];
    await odd().use({ lines, pages: picky });
    const asked = await everyCall();
    const [code, refresh] = (asked['/token'] ?? []).map(({ body }) => JSON.parse(body));
    const client = { client_id: 'client-1', client_secret: 'secret-canary', resource: ['a', 'b'] };
    expect(code).to.include({ grant_type: 'authorization_code', code: 'the-code' }).and.to.deep.include(client);
    expect(code).to.have.property('code_verifier').which.has.length(43);
    expect(refresh).to.deep.equal({ ...client, grant_type: 'refresh_token', refresh_token: 'RT1' });
    // RFC 7009 knows only forms.
    expect(asked['/revoke']?.[0]?.form.get('client_secret')).to.equal('secret-canary');
  });

  it('gets only refreshes at another URL', async () => {
    const pages: Pages = {
      '/refresh': json({ ...tokens, access_token: 'AT2' }),
      '/token': (response, { body }) => (body.includes('refresh_token') ? json({}, 400) : json(tokens))(response),
    };
    await odd().use({ lines: ['refresh-url: P/refresh', 'token-request: basic'], pages });
    const { refresh_token: token } = fieldsOf(await odd().logIn());
    expect(fieldsOf(await odd().refresh(`${token}`))).to.include({ access_token: 'AT2' });
    expect(odd().asked('/token')).to.have.length(1);
    const [refresh] = odd().asked('/refresh');
    expect(refresh?.form.get('refresh_token')).to.equal('RT1');
    expect(refresh?.headers.authorization).to.match(/^Basic /);
  });

  it('cannot get refreshes and the secret over plain http, or at a metadata service', () => {
    for (const url of [
      'http://other.example/refresh',
      'http://169.254.169.254/',
      'https://a@other.example/',
      'P/r?client_secret=x',
    ]) {
      expect(faultsOf([`refresh-url: ${url}`]), url).to.have.length(1);
    }
    expect(faultsOf(['refresh-url: https://other.example/refresh'])).to.deep.equal([]);
  });

  it('does not get refresh tokens of logins from before its refreshes moved', async () => {
    await odd().use({
      lines: ['refresh-url: P/refresh'],
      pages: { '/refresh': json(tokens), '/elsewhere': json(tokens) },
    });
    const { refresh_token: token } = fieldsOf(await odd().logIn());
    const { pages } = odd();
    await odd().use({ lines: ['refresh-url: P/elsewhere'], pages });
    expectOAuthError(await odd().refresh(`${token}`), 'invalid_grant');
    expect(odd().requests).to.deep.equal([]);
  });

  it('may want its client identifier in the form in addition to Basic, and never another identifier', async () => {
    const lines = ['token-request: basic', 'token-params: client_id=client-1'];
    await odd().use({ lines });
    fieldsOf(await odd().logIn());
    const [asked] = odd().asked('/token');
    expect(asked?.form.getAll('client_id')).to.deep.equal(['client-1']);
    expect(asked?.headers.authorization).to.match(/^Basic /);
    await odd().use({ lines: ['token-request: body', 'token-params: client_id=client-1'] });
    fieldsOf(await odd().logIn());
    expect(odd().asked('/token')[0]?.form.getAll('client_id')).to.deep.equal(['client-1']);
    for (const parameters of ['client_id=other', 'client_secret=x', 'client_id=client-1&code=x']) {
      expect(faultsOf(['token-request: basic', `token-params: ${parameters}`]), parameters).to.have.length(1);
    }
  });

  it('has a page that logs out, to which nothing is added, or none', async () => {
    const P = odd().origin;
    const described: Pages = {
      '/.well-known/openid-configuration': json({
        issuer: P,
        authorization_endpoint: `${P}/authorize`,
        token_endpoint: `${P}/token`,
        userinfo_endpoint: `${P}/user`,
        end_session_endpoint: `${P}/end`,
      }),
    };
    const ended = async (setting: { readonly lines: readonly string[]; readonly isDiscovered?: boolean }) => {
      await odd().use({ ...setting, delivery: 'session', pages: described });
      return fieldsOf(await (await odd().session()).logOut());
    };
    const url = 'https://id.example.com/bye?client=7';
    expect(await ended({ lines: [`logout-url: ${url}`] })).to.deep.equal({ url });
    const discovered = { isDiscovered: true };
    expect(await ended({ lines: [`issuer: ${P}`, `logout-url: ${url}`], ...discovered })).to.deep.equal({ url });
    expect(await ended({ lines: [`issuer: ${P}`, 'logout-url: off'], ...discovered })).to.deep.equal({});
    expect(await ended({ lines: [`issuer: ${P}`], ...discovered })).to.deep.equal({
      url: `${P}/end?client_id=client-1`,
    });
    const entra = ['client-id: a', 'client-secret: b', 'provider: entra', 'provider-tenant: t', 'logout-url: off'];
    expect(faultsOf(['logout-url: http://id.example.com/bye'])).to.have.length(1);
    expect(faultsOf(['logout-url: none'])).to.have.length(1);
    expect(faultsOf(entra, '')).to.deep.equal([]);
  });

  describe('with commas between scopes', () => {
    const lines = ["scope-separator: ','", 'scope: read activity:read'];
    const granting: Pages = {
      '/token': json({ ...tokens, scope: 'read,activity:read' }),
    };

    it('gets them at the start, and answers with them', async () => {
      await odd().use({ lines, pages: granting });
      const browser = new FakeBrowser(() => odd());
      const request = expectRedirect(await openStart(browser, oauthStart()));
      expect(request.searchParams.get('scope')).to.equal('read,activity:read');
      expect(fieldsOf(await odd().logIn())).to.include({ scope: 'read activity:read' });
    });

    it('gets the part that a page asks for', async () => {
      await odd().use({ lines, pages: { '/token': json({ ...tokens, scope: 'read' }) } });
      const browser = new FakeBrowser(() => odd());
      const start = oauthStart({ scope: 'read' });
      const request = expectRedirect(await openStart(browser, start));
      expect(request.searchParams.get('scope')).to.equal('read');
      const response = await logInTo(new FakeBrowser(() => odd()), { provider: odd() }, start);
      expect(fieldsOf(await requestToken(odd(), redemption(response)))).to.include({ scope: 'read' });
    });

    it('gets them at a refresh of a part', async () => {
      await odd().use({
        lines: ["scope-separator: ','", 'scope: a b c'],
        pages: { '/token': json({ ...tokens, scope: 'a,b,c' }) },
      });
      const { refresh_token: token } = fieldsOf(await odd().logIn());
      const parameters = { grant_type: 'refresh_token', client_id: 'app', refresh_token: `${token}`, scope: 'a c' };
      fieldsOf(await requestToken(odd(), parameters));
      expect(odd().asked('/token').at(-1)?.form.get('scope')).to.equal('a,c');
    });

    it('has spaces in the file, and one character between scopes in requests', () => {
      expect(faultsOf(["scope-separator: ','", 'scope: read,activity:read'])).to.have.length(1);
      const ofPage = odd().file({ lines: ["scope-separator: ','"], frontEnd: 'scope: "read,write"' });
      expect(() => readFileConfig(ofPage)).to.throw(ConfigError);
      for (const wrong of ["'+'", "'ab'", 'a', "''", "'%'", "'&'"]) {
        expect(faultsOf([`scope-separator: ${wrong}`]), wrong).to.have.length(1);
      }
    });
  });

  /** The faults of a file with these lines of the provider. */
  function faultsOf(lines: readonly string[], endpoints?: string): readonly string[] {
    const file = odd().file({ lines, ...(endpoints === '' && { isDiscovered: true }) });
    const text =
      endpoints === '' ? file.replace(/ {4}client-id: client-1\n {4}client-secret: secret-canary\n/, '') : file;
    try {
      readFileConfig(text);
      return [];
    } catch (error) {
      if (error instanceof ConfigError) return error.faults;
      throw error;
    }
  }
});
