import { expect } from 'chai';
import type { MetadataContext } from '../../src/oauth/metadata.ts';
import { DiscoveryError } from '../../src/oauth/metadata.ts';
import { createUpstreamClient } from '../../src/upstream/client.ts';
import { discoverProvider } from '../../src/upstream/discovery.ts';
import { metadata, oauthPath, openIdPath } from '../harness/provider/metadata.ts';
import { answer, html, json, redirect } from '../harness/provider/provider-behaviours.ts';
import { StrictProvider } from '../harness/provider/strict-provider.ts';
import { registration } from '../harness/relay/relay-under-test.ts';

const mebibyte = 1024 * 1024;
const nothingGiven = { given: {}, insecureHttp: false, encodingChanges: false };

describe('the provider that discovery returns', () => {
  const client = createUpstreamClient('login-relay/test', { timeout: 10_000, concurrentCalls: 2 });
  let issuer: StrictProvider;
  before(async () => {
    issuer = await StrictProvider.start(registration());
  });
  after(async () => {
    client.close();
    await issuer.stop();
  });

  async function discover(source: Partial<MetadataContext> = {}) {
    return await discoverProvider(client, { issuer: issuer.origin, ...nothingGiven, ...source });
  }

  /** Discovers a provider from valid metadata with these changes. */
  async function learn(changes: Record<string, unknown>, source: Partial<MetadataContext> = {}) {
    issuer.pages = { [openIdPath]: json(metadata(issuer.origin, changes)) };
    return await discover(source);
  }

  async function failureOf(learning: Promise<unknown>): Promise<DiscoveryError> {
    const error = await learning.catch((reason: unknown) => reason);
    if (error instanceof DiscoveryError) return error;
    throw new Error(`no DiscoveryError: ${JSON.stringify(error)}`);
  }

  it('has the endpoints, and how they authenticate clients', async () => {
    const provider = await learn({
      token_endpoint_auth_methods_supported: ['private_key_jwt', 'client_secret_post'],
      code_challenge_methods_supported: ['plain', 'S256'],
      authorization_response_iss_parameter_supported: true,
    });
    expect(provider).to.deep.equal({
      authorizeUrl: `${issuer.origin}/authorize`,
      tokenUrl: `${issuer.origin}/token`,
      userUrl: `${issuer.origin}/userinfo`,
      scope: 'openid',
      clientAuthentication: 'body',
      pkce: true,
      authorizeParameters: undefined,
      tokenParameters: undefined,
      revocation: undefined,
      logoutUrl: undefined,
      scopesSupported: undefined,
      accountPrompt: 'login',
      issuer: issuer.origin,
      issRequired: true,
    });
  });

  it('has the defaults of the standards for minimal metadata', async () => {
    expect(await learn({})).to.include({
      clientAuthentication: 'basic',
      pkce: true,
      issRequired: false,
    });
  });

  it('has the logout page, unless that cannot be used', async () => {
    const logoutUrlOf = async (value: unknown) =>
      (await learn({ end_session_endpoint: value })).logoutUrl;
    const page = `${issuer.origin}/logout`;
    expect(await logoutUrlOf(page)).to.equal(page);
    for (const unusable of [
      'http://login.example/logout',
      `${page}?client_id=x`,
      'javascript:1',
      7,
    ]) {
      expect(await logoutUrlOf(unusable), `${unusable}`).to.equal(undefined);
    }
  });

  it('has the revocation endpoint, unless that cannot be used', async () => {
    const revocationOf = async (value: unknown, source: Partial<MetadataContext> = {}) =>
      (await learn({ revocation_endpoint: value }, source)).revocation?.url;
    const endpoint = `${issuer.origin}/revoke`;
    expect(await revocationOf(endpoint)).to.equal(endpoint);
    for (const unusable of [
      undefined,
      null,
      7,
      '/revoke',
      'http://provider.example/revoke',
      'https://169.254.169.254/revoke',
      `${endpoint}?token=a`,
    ]) {
      expect(await revocationOf(unusable), `${unusable}`).to.equal(undefined);
    }
    const given = { url: 'https://a.example/revoke', request: 'rfc7009' } as const;
    expect(await revocationOf(endpoint, { given: { revocation: given } })).to.equal(given.url);
  });

  it('requests offline_access for refresh tokens, if the metadata offers it', async () => {
    const needed = async (changes: Record<string, unknown>) =>
      (await learn(changes)).refreshRequest;
    const scopes_supported = ['openid', 'offline_access'];
    expect(await needed({ scopes_supported })).to.deep.equal({ scope: 'offline_access' });
    expect(await needed({ scopes_supported: ['openid'] })).to.equal(undefined);
    const withoutRefresh = { scopes_supported, grant_types_supported: ['authorization_code'] };
    expect(await needed(withoutRefresh)).to.equal(undefined);
    expect(await learn(withoutRefresh)).to.include({ refreshTokens: 'never' });
  });

  it('uses PKCE, and requires no iss, whatever else the metadata has for them', async () => {
    for (const methods of [['plain'], 'S256', {}, null]) {
      const learned = await learn({ code_challenge_methods_supported: methods });
      expect(learned, JSON.stringify(methods)).to.include({ pkce: true });
    }
    for (const promise of ['true', 1, {}, null]) {
      const learned = await learn({ authorization_response_iss_parameter_supported: promise });
      expect(learned, JSON.stringify(promise)).to.include({ issRequired: false });
    }
  });

  const post = 'client_secret_post';
  const basic = 'client_secret_basic';
  for (const [expected, encodingChanges, methods] of [
    ['body', true, [basic, post]],
    ['basic', false, [post, basic]],
    ['basic', true, [basic]],
    ['body', false, [post]],
    ['basic', true, undefined],
    ['basic', true, null],
  ] as const) {
    it(`authenticates with ${expected} if the metadata lists ${methods} and encoding ${encodingChanges ? 'changes' : 'keeps'} the credentials`, async () => {
      const learning = learn(
        { token_endpoint_auth_methods_supported: methods },
        { encodingChanges },
      );
      expect(await learning).to.include({ clientAuthentication: expected });
    });
  }

  it('has the configured values, even if the metadata lacks them or has wrong ones', async () => {
    const given = {
      authorizeUrl: 'https://a.example/authorize',
      tokenUrl: 'https://a.example/token',
      userUrl: 'https://a.example/user',
      scope: 'email',
      clientAuthentication: 'query',
    } as const;
    const provider = await learn(
      {
        authorization_endpoint: 'http://other.example',
        token_endpoint: undefined,
        userinfo_endpoint: 7,
        token_endpoint_auth_methods_supported: ['none'],
      },
      { given },
    );
    expect(provider).to.include(given);
  });

  it('can have an endpoint on another host and port, with a query', async () => {
    const authorization_endpoint = 'https://login.example:8443/authorize?tenant=a%20b';
    const { authorizeUrl } = await learn({ authorization_endpoint });
    expect(authorizeUrl).to.equal(authorization_endpoint);
  });

  it('can have an endpoint on plain http, if that is allowed', async () => {
    const token_endpoint = 'http://sso.example.com/token';
    const { tokenUrl } = await learn({ token_endpoint }, { insecureHttp: true });
    expect(tokenUrl).to.equal(token_endpoint);
  });

  it('comes from OAuth metadata if there is none of OpenID Connect', async () => {
    const path = '/realms/main';
    const name = `${issuer.origin}${path}`;
    issuer.pages = { [oauthPath + path]: json(metadata(name)) };
    expect(await discover({ issuer: name })).to.include({ issuer: name });
    expect(issuer.asked.slice(-2)).to.deep.equal([path + openIdPath, oauthPath + path]);
  });

  it('comes from the same address for an issuer with a final slash', async () => {
    const name = `${issuer.origin}/realms/main/`;
    issuer.pages = { [`/realms/main${openIdPath}`]: json(metadata(name)) };
    expect(await discover({ issuer: name })).to.include({ issuer: name });
  });

  it('comes from metadata of just under 1 MiB', async () => {
    const room = mebibyte - JSON.stringify(metadata(issuer.origin, { padding: '' })).length;
    expect(await learn({ padding: 'x'.repeat(room) })).to.include({ issuer: issuer.origin });
    const failure = await failureOf(learn({ padding: 'x'.repeat(room + 1) }));
    expect(failure.reason).to.equal('too_large');
  });

  describe('does not exist', () => {
    for (const [what, changes, reason] of [
      ['a missing issuer', { issuer: undefined }, 'issuer_mismatch'],
      ['an issuer that is a list', { issuer: [] }, 'issuer_mismatch'],
      ['an endpoint that is an object', { token_endpoint: {} }, 'endpoint_unusable'],
      ['an endpoint without a host', { token_endpoint: '/token' }, 'endpoint_unusable'],
      ['an endpoint that is a script', { token_endpoint: 'javascript:1' }, 'endpoint_unusable'],
      ['an endpoint that is a file', { token_endpoint: 'file:///token' }, 'endpoint_unusable'],
      [
        'an endpoint with a password',
        { token_endpoint: 'https://a:b@c.example/' },
        'endpoint_unusable',
      ],
      [
        'an endpoint with a fragment',
        { token_endpoint: 'https://c.example/#a' },
        'endpoint_unusable',
      ],
      [
        'an endpoint in two lines',
        { token_endpoint: 'https://c.example/\r\n' },
        'endpoint_unusable',
      ],
      ['no way for a secret', { token_endpoint_auth_methods_supported: [] }, 'unsupported'],
      [
        'a way that is no list',
        { token_endpoint_auth_methods_supported: 'client_secret_post' },
        'unsupported',
      ],
    ] as const) {
      it(`if the metadata has ${what}`, async () => {
        expect((await failureOf(learn(changes))).reason).to.equal(reason);
      });
    }

    for (const host of [
      '169.254.169.254',
      '[::ffff:169.254.169.254]',
      '0xa9fea9fe',
      '[fe80::1]',
      '[fd00:ec2::254]',
    ]) {
      it(`if an endpoint is at ${host}, even over https`, async () => {
        const failure = await failureOf(learn({ token_endpoint: `https://${host}/` }));
        expect(failure.reason).to.equal('endpoint_unusable');
        expect(failure.explanation).to.match(/link-local|metadata address/);
      });
    }

    for (const [what, reply] of [
      ['a list', json([])],
      ['nothing', answer(200)],
      ['half an object', answer(200, '{"issuer":')],
      ['a page', html(200, '')],
    ] as const) {
      it(`if the answer is ${what}`, async () => {
        issuer.pages = { [openIdPath]: reply };
        expect((await failureOf(discover())).reason).to.equal('not_json');
      });
    }
  });

  describe('comes from the second address if the first', () => {
    for (const [what, reply] of [
      ['answers with a list', json([])],
      ['answers with nothing', answer(200)],
      ['answers with a page', html(200, '')],
      ['answers 403', html(403, '')],
      ['answers 500', html(500, '')],
      ['answers with more than 1 MiB', html(200, ' '.repeat(mebibyte + 1))],
      ['is another issuer’s', json(metadata('https://other.example'))],
      ['redirects to another origin', redirect('https://other.example/')],
    ] as const) {
      it(what, async () => {
        issuer.pages = { [openIdPath]: reply, [oauthPath]: json(metadata(issuer.origin)) };
        expect(await discover()).to.include({ issuer: issuer.origin });
      });
    }
  });

  it('does not exist for the reason of the first address if the second has no metadata', async () => {
    issuer.pages = { [openIdPath]: answer(403, 'no', { 'Content-Type': 'text/plain' }) };
    const failure = await failureOf(discover());
    expect(failure.reason).to.equal('unexpected_status');
    expect(failure.explanation).to.include('status 403');
  });

  it('has no default scope if the issuer has only OAuth metadata', async () => {
    issuer.pages = {
      [oauthPath]: json(metadata(issuer.origin, { scopes_supported: ['profile'] })),
    };
    expect((await discover()).scope).to.equal(undefined);
    issuer.pages = { [oauthPath]: json(metadata(issuer.origin, { scopes_supported: ['openid'] })) };
    expect((await discover()).scope).to.equal('openid');
  });

  describe('behind redirects', () => {
    it('is found after three redirects within the origin', async () => {
      issuer.pages = {
        [openIdPath]: redirect('/1', 301),
        '/1': redirect('2?a=b', 302),
        '/2?a=b': redirect(`http://somebody:secret@${new URL(issuer.origin).host}/3`, 308),
        '/3': (response, { headers: { authorization } }) => {
          const name = authorization === undefined ? issuer.origin : 'asked with a password';
          json(metadata(name))(response);
        },
      };
      expect(await discover()).to.include({ issuer: issuer.origin });
    });

    it('is not found after more redirects', async () => {
      issuer.pages = {
        [openIdPath]: redirect('/1'),
        '/1': redirect('/2'),
        '/2': redirect('/3'),
        '/3': redirect('/4'),
        '/4': json(metadata(issuer.origin)),
      };
      const failure = await failureOf(discover());
      expect(failure.reason).to.equal('redirected');
      expect(failure.explanation).to.include('more than 3 times');
      expect(issuer.asked).not.to.include('/4');
    });

    it('is not found at another origin', async () => {
      const other = await StrictProvider.start(registration());
      other.pages = { '/': json(metadata(other.origin)) };
      try {
        for (const target of [`${other.origin}/`, `//${new URL(other.origin).host}/`]) {
          issuer.pages = { [openIdPath]: redirect(target) };
          const failure = await failureOf(discover());
          expect(failure.reason).to.equal('redirected');
          expect(failure.explanation).to.include(other.origin);
        }
        expect(other.asked).to.deep.equal([]);
      } finally {
        await other.stop();
      }
    });

    it('is not found at an address that is none', async () => {
      for (const target of ['', 'http://[', 'javascript:alert(1)']) {
        issuer.pages = { [openIdPath]: redirect(target) };
        const failure = await failureOf(discover());
        expect(failure.reason, target).to.be.oneOf(['redirected', 'unexpected_status']);
        expect(failure.explanation).not.to.include('javascript');
      }
    });
  });

  describe('does not exist, and the explanation names the missing field:', () => {
    for (const [field, flag] of [
      ['authorization_endpoint', '--authorize-url'],
      ['token_endpoint', '--token-url'],
      ['userinfo_endpoint', '--user-url'],
    ] as const) {
      it(field, async () => {
        for (const missing of [null, undefined]) {
          const { reason, explanation } = await failureOf(learn({ [field]: missing }));
          expect(reason).to.equal('endpoint_missing');
          expect(explanation).to.equal(
            `the metadata has no ${field}: give it by hand, with ${flag}`,
          );
        }
      });
    }
  });

  describe('does not exist, as unsupported, if the metadata', () => {
    for (const [what, changes, words] of [
      [
        'requires pushed authorization requests',
        { require_pushed_authorization_requests: true },
        /pushed authorization requests/,
      ],
      [
        'requires signed request objects',
        { require_signed_request_object: true },
        /signed request objects/,
      ],
      [
        'takes only keys of the client',
        { token_endpoint_auth_methods_supported: ['private_key_jwt', 'tls_client_auth'] },
        /without a client secret/,
      ],
      ['offers no code', { response_types_supported: ['id_token'] }, /response type/],
      ['offers no query', { response_modes_supported: ['form_post'] }, /response mode/],
      ['offers no code grant', { grant_types_supported: ['client_credentials'] }, /grant/],
    ] as const) {
      it(what, async () => {
        const { reason, explanation } = await failureOf(learn(changes));
        expect(reason).to.equal('unsupported');
        expect(explanation).to.match(words);
      });
    }

    it('requires several things, and the explanation names each', async () => {
      const { explanation } = await failureOf(
        learn({ require_pushed_authorization_requests: true, response_types_supported: [] }),
      );
      expect(explanation)
        .to.match(/pushed authorization requests/)
        .and.match(/response type/);
    });

    it('exists if the metadata lists other methods beside those of the relay', async () => {
      const learning = learn({
        require_pushed_authorization_requests: false,
        require_signed_request_object: null,
        pushed_authorization_request_endpoint: `${issuer.origin}/par`,
        token_endpoint_auth_methods_supported: ['private_key_jwt', 'client_secret_post'],
        response_types_supported: ['code id_token', 'code'],
        response_modes_supported: ['form_post', 'query'],
        grant_types_supported: ['implicit', 'authorization_code'],
      });
      expect(await learning).to.include({ clientAuthentication: 'body' });
    });
  });

  it('does not exist if the issuer calls itself http, and the explanation names the proxy', async () => {
    const body = Buffer.from(JSON.stringify(metadata('http://id.example:8443/o')));
    const behindProxy = { ...client, call: async () => ({ status: 200, headers: {}, body }) };
    const about = (name: string) =>
      failureOf(discoverProvider(behindProxy, { ...nothingGiven, issuer: name }));
    const { reason, explanation } = await about('https://id.example:8443/o');
    expect(reason).to.equal('issuer_scheme');
    expect(explanation).to.include('X-Forwarded-Proto');
    for (const other of ['https://id.example/o', 'https://id.example:8443/o/']) {
      expect((await about(other)).reason).to.equal('issuer_mismatch');
    }
  });

  describe('does not exist if a remote issuer', () => {
    const remote = 'https://id.example';

    /** Discovers a provider from a remote issuer. */
    async function learnFrom(
      origin: string,
      changes: Record<string, unknown>,
      source: Partial<MetadataContext> = {},
    ) {
      const body = Buffer.from(JSON.stringify(metadata(origin, changes)));
      const elsewhere = { ...client, call: async () => ({ status: 200, headers: {}, body }) };
      return await discoverProvider(elsewhere, { issuer: origin, ...nothingGiven, ...source });
    }

    for (const host of [
      ...['localhost', 'LOCALHOST', 'localhost.', 'a.localhost', '127.0.0.1', '127.255.255.254'],
      ...['0.0.0.0', '[::1]', '[::]', '[::ffff:127.0.0.1]', '[0:0:0:0:0:ffff:7f00:1]'],
    ]) {
      for (const field of ['authorization_endpoint', 'token_endpoint', 'userinfo_endpoint']) {
        it(`names ${host} as ${field}`, async () => {
          const learning = learnFrom(remote, { [field]: `https://${host}:8080/` });
          expect((await failureOf(learning)).reason).to.equal('endpoint_on_this_machine');
        });
      }
    }

    for (const url of ['http://localhost/', 'http://127.0.0.1:8080/', 'http://id.example/']) {
      it(`on https names ${url}, whatever --insecure-http allows`, async () => {
        for (const insecureHttp of [false, true]) {
          const learning = learnFrom(remote, { userinfo_endpoint: url }, { insecureHttp });
          expect((await failureOf(learning)).reason).to.equal('endpoint_unusable');
        }
      });
    }

    it('on plain http names this machine', async () => {
      const changes = { token_endpoint: 'http://127.0.0.1/token' };
      const learning = learnFrom('http://id.example', changes, { insecureHttp: true });
      expect((await failureOf(learning)).reason).to.equal('endpoint_on_this_machine');
    });

    for (const [field, query] of [
      ['authorization_endpoint', 'redirect_uri=https://evil.example/'],
      ['authorization_endpoint', 'a=b&client_id=another'],
      ['authorization_endpoint', 'state='],
      ['authorization_endpoint', '%73tate=x'],
      ['authorization_endpoint', 'response_mode=form_post'],
      ['authorization_endpoint', 'request_uri=https://evil.example/'],
      ['token_endpoint', 'client_secret=another'],
      ['token_endpoint', 'code=another'],
      ['userinfo_endpoint', 'access_token=another'],
    ] as const) {
      it(`puts ${query} into its ${field}`, async () => {
        const learning = learnFrom(remote, { [field]: `${remote}/endpoint?${query}` });
        expect((await failureOf(learning)).reason).to.equal('endpoint_parameter');
      });
    }

    it('names such an endpoint, unless it is configured', async () => {
      const tokenUrl = 'http://127.0.0.1:8080/token';
      const changes = { token_endpoint: 'http://127.0.0.1:9090/token' };
      const provider = await learnFrom(remote, changes, { given: { tokenUrl } });
      expect(provider.tokenUrl).to.equal(tokenUrl);
    });

    it('exists if its endpoints are elsewhere and have other parameters', async () => {
      const tokenUrl = 'https://api.other.example/token?tenant=1';
      expect(await learnFrom(remote, { token_endpoint: tokenUrl })).to.include({ tokenUrl });
      const plain = { issuer: 'http://id.example', insecureHttp: true };
      expect(await learnFrom(plain.issuer, {}, plain)).to.include({ issuer: plain.issuer });
    });
  });
});
