import { expect } from 'chai';
import { DiscoveryError, type MetadataContext, parseMetadata } from '../../src/oauth/metadata.ts';
import { readDescribedProvider } from '../../src/oauth/provider-from-metadata.ts';
import type { Provider } from '../../src/providers/provider.ts';
import { metadata } from '../harness/provider/metadata.ts';

const issuer = 'https://id.example';

type Changes = Readonly<Record<string, unknown>>;
type Source = Partial<MetadataContext>;

/** The provider that valid metadata with these changes describe. */
function learn(changes: Changes, source: Source = {}): Provider {
  const given = { issuer, clientId: 'client-1', given: {}, insecureHttp: false, encodingChanges: false, ...source };
  const bytes = Buffer.from(JSON.stringify(metadata(given.issuer, changes)));
  return readDescribedProvider(parseMetadata(bytes, given.issuer), 'openid', given);
}

function failureOf(changes: Changes, source?: Source): DiscoveryError {
  try {
    throw new Error(`learned: ${JSON.stringify(learn(changes, source))}`);
  } catch (error) {
    if (error instanceof DiscoveryError) return error;
    throw error;
  }
}

describe('the provider that metadata describe', () => {
  it('has the endpoints, and how they authenticate clients', () => {
    const provider = learn({
      token_endpoint_auth_methods_supported: ['private_key_jwt', 'client_secret_post'],
      code_challenge_methods_supported: ['plain', 'S256'],
      authorization_response_iss_parameter_supported: true,
    });
    expect(provider).to.deep.equal({
      authorizeUrl: `${issuer}/authorize`,
      tokenUrl: `${issuer}/token`,
      userUrl: `${issuer}/userinfo`,
      scope: 'openid',
      tokenRequest: 'body',
      pkce: true,
      revocation: undefined,
      logoutUrl: undefined,
      scopesSupported: undefined,
      accountPrompt: 'login',
      issuer,
      issRequired: true,
    });
  });

  it('has the defaults of the standards for minimal metadata', () => {
    expect(learn({})).to.include({ tokenRequest: 'basic', pkce: true, issRequired: false });
  });

  it('has the logout page, unless that cannot be used', () => {
    const page = `${issuer}/logout`;
    const logoutUrlOf = (value: unknown) => learn({ end_session_endpoint: value }).logoutUrl;
    expect(logoutUrlOf(page)).to.equal(`${page}?client_id=client-1`);
    const plain = 'http://login.example/logout';
    for (const unusable of [plain, `${page}?client_id=x`, 'javascript:1', 7]) {
      expect(logoutUrlOf(unusable), `${unusable}`).to.equal(undefined);
    }
  });

  it('has the revocation endpoint, unless that cannot be used', () => {
    const revocationOf = (value: unknown, source?: Source) =>
      learn({ revocation_endpoint: value }, source).revocation?.url;
    const endpoint = `${issuer}/revoke`;
    expect(revocationOf(endpoint)).to.equal(endpoint);
    for (const unusable of [
      undefined,
      null,
      7,
      '/revoke',
      'http://provider.example/revoke',
      'https://169.254.169.254/revoke',
      `${endpoint}?token=a`,
    ]) {
      expect(revocationOf(unusable), `${unusable}`).to.equal(undefined);
    }
    const given = { url: 'https://a.example/revoke', request: 'rfc7009' } as const;
    expect(revocationOf(endpoint, { given: { revocation: given } })).to.equal(given.url);
  });

  it('requests offline_access for refresh tokens, if the metadata offers it', () => {
    const needed = (changes: Changes) => learn(changes).refreshRequest;
    const scopes_supported = ['openid', 'offline_access'];
    expect(needed({ scopes_supported })).to.deep.equal({ scope: 'offline_access' });
    expect(needed({ scopes_supported: ['openid'] })).to.equal(undefined);
    const withoutRefresh = { scopes_supported, grant_types_supported: ['authorization_code'] };
    expect(needed(withoutRefresh)).to.equal(undefined);
    expect(learn(withoutRefresh)).to.include({ refreshTokens: 'never' });
  });

  it('uses PKCE, and requires no iss, whatever else the metadata has for them', () => {
    for (const code_challenge_methods_supported of [['plain'], 'S256', {}, null]) {
      expect(learn({ code_challenge_methods_supported })).to.include({ pkce: true });
    }
    for (const authorization_response_iss_parameter_supported of ['true', 1, {}, null]) {
      const learned = learn({ authorization_response_iss_parameter_supported });
      expect(learned).to.include({ issRequired: false });
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
    it(`authenticates with ${expected} if the metadata lists ${methods} and encoding ${encodingChanges ? 'changes' : 'keeps'} the credentials`, () => {
      const changes = { token_endpoint_auth_methods_supported: methods };
      expect(learn(changes, { encodingChanges })).to.include({ tokenRequest: expected });
    });
  }

  it('has the configured values, even if the metadata lacks them or has wrong values', () => {
    const given = {
      authorizeUrl: 'https://a.example/authorize',
      tokenUrl: 'https://a.example/token',
      userUrl: 'https://a.example/user',
      scope: 'email',
      tokenRequest: 'query',
    } as const;
    const wrong = {
      authorization_endpoint: 'http://other.example',
      token_endpoint: 'http://127.0.0.1:9090/token',
      userinfo_endpoint: undefined,
      token_endpoint_auth_methods_supported: ['none'],
    };
    expect(learn(wrong, { given })).to.include(given);
  });

  it('can have endpoints elsewhere, with a query, and on plain http if that is allowed', () => {
    const authorization_endpoint = 'https://login.example:8443/authorize?tenant=a%20b';
    expect(learn({ authorization_endpoint }).authorizeUrl).to.equal(authorization_endpoint);
    const token_endpoint = 'http://sso.example.com/token';
    const plain = { issuer: 'http://id.example', insecureHttp: true };
    expect(learn({ token_endpoint }, plain).tokenUrl).to.equal(token_endpoint);
  });

  it('may list further methods in addition to the methods of the relay', () => {
    const learned = learn({
      require_pushed_authorization_requests: false,
      require_signed_request_object: null,
      pushed_authorization_request_endpoint: `${issuer}/par`,
      token_endpoint_auth_methods_supported: ['private_key_jwt', post],
      response_types_supported: ['code id_token', 'code'],
      response_modes_supported: ['form_post', 'query'],
      grant_types_supported: ['implicit', 'authorization_code'],
    });
    expect(learned).to.include({ tokenRequest: 'body' });
  });
});

describe('metadata cannot be used', () => {
  const methods = 'token_endpoint_auth_methods_supported';
  for (const [what, changes, reason, words] of [
    ['a missing issuer', { issuer: undefined }, 'issuer_mismatch'],
    ['an issuer that is a list', { issuer: [] }, 'issuer_mismatch'],
    ['an issuer on another port', { issuer: `${issuer}:8443` }, 'issuer_mismatch'],
    ['an issuer on http', { issuer: 'http://id.example' }, 'issuer_scheme', /X-Forwarded-Proto/],
    ['an endpoint that is an object', { token_endpoint: {} }, 'endpoint_unusable'],
    ['an endpoint without a host', { token_endpoint: '/token' }, 'endpoint_unusable'],
    ['an endpoint that is a script', { token_endpoint: 'javascript:1' }, 'endpoint_unusable'],
    ['an endpoint that is a file', { token_endpoint: 'file:///token' }, 'endpoint_unusable'],
    ['a password', { token_endpoint: 'https://a:b@c.example/' }, 'endpoint_unusable'],
    ['a fragment', { token_endpoint: 'https://c.example/#a' }, 'endpoint_unusable'],
    ['an endpoint in two lines', { token_endpoint: 'https://c.example/\r\n' }, 'endpoint_unusable'],
    ['no way for a secret', { [methods]: [] }, 'unsupported'],
    ['a way that is no list', { [methods]: 'client_secret_post' }, 'unsupported'],
    ['keys of clients only', { [methods]: ['private_key_jwt'] }, 'unsupported', /without a client/],
    ['pushed requests', { require_pushed_authorization_requests: true }, 'unsupported', /pushed/],
    ['signed requests', { require_signed_request_object: true }, 'unsupported', /signed request/],
    ['no code', { response_types_supported: ['id_token'] }, 'unsupported', /response type/],
    ['no query', { response_modes_supported: ['form_post'] }, 'unsupported', /response mode/],
    ['no code grant', { grant_types_supported: ['client_credentials'] }, 'unsupported', /grant/],
  ] as [string, Changes, string, RegExp?][]) {
    it(`with ${what}`, () => {
      const failure = failureOf(changes);
      expect(failure.reason).to.equal(reason);
      if (words) expect(failure.explanation).to.match(words);
    });
  }

  it('with several things that the relay does not support, which it names', () => {
    const pushed = { require_pushed_authorization_requests: true };
    const { explanation } = failureOf({ ...pushed, response_types_supported: [] });
    expect(explanation).to.match(/pushed authorization requests.*response type/);
  });

  for (const [field, flag] of [
    ['authorization_endpoint', '--authorize-url'],
    ['token_endpoint', '--token-url'],
    ['userinfo_endpoint', '--user-url, or set user-from: id-token in the configuration file'],
  ] as const) {
    it(`without ${field}, which the explanation names`, () => {
      for (const missing of [null, undefined]) {
        const { reason, explanation } = failureOf({ [field]: missing });
        expect(reason).to.equal('endpoint_missing');
        expect(explanation).to.equal(`the metadata has no ${field}: give it by hand, with ${flag}`);
      }
    });

    it(`with a ${field} on this machine, if the issuer is elsewhere`, () => {
      for (const host of [
        'localhost',
        'LOCALHOST',
        'localhost.',
        'a.localhost',
        '127.0.0.1',
        '127.255.255.254',
        '0.0.0.0',
        '[::1]',
        '[::]',
        '[::ffff:127.0.0.1]',
        '[0:0:0:0:0:ffff:7f00:1]',
      ]) {
        const { reason } = failureOf({ [field]: `https://${host}:8080/` });
        expect(reason, host).to.equal('endpoint_on_this_machine');
      }
    });
  }

  it('with an endpoint at a metadata address, even of an issuer on this machine', () => {
    const here = 'http://127.0.0.1:9999';
    const hosts = ['169.254.169.254', '[::ffff:169.254.169.254]', '0xa9fea9fe', '[fe80::1]'];
    for (const host of [...hosts, '[fd00:ec2::254]']) {
      const failure = failureOf({ token_endpoint: `https://${host}/` }, { issuer: here });
      expect(failure.reason).to.equal('endpoint_unusable');
      expect(failure.explanation).to.match(/link-local|metadata address/);
    }
  });

  it('with an endpoint on plain http of an issuer on https, whatever --insecure-http allows', () => {
    for (const url of ['http://localhost/', 'http://127.0.0.1:8080/', 'http://id.example/']) {
      for (const insecureHttp of [false, true]) {
        const { reason } = failureOf({ userinfo_endpoint: url }, { insecureHttp });
        expect(reason, url).to.equal('endpoint_unusable');
      }
    }
    const plain = { issuer: 'http://id.example', insecureHttp: true };
    const { reason } = failureOf({ token_endpoint: 'http://127.0.0.1/token' }, plain);
    expect(reason).to.equal('endpoint_on_this_machine');
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
    it(`with ${query} in its ${field}`, () => {
      const { reason } = failureOf({ [field]: `${issuer}/endpoint?${query}` });
      expect(reason).to.equal('endpoint_parameter');
    });
  }
});
