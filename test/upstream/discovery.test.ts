import { expect } from 'chai';
import { createUpstreamClient } from '../../src/upstream/client.ts';
import {
  DiscoveryError,
  type DiscoverySource,
  discoverProvider,
} from '../../src/upstream/discovery.ts';
import {
  bytes,
  type Issuer,
  json,
  metadata,
  oauthPath,
  openIdPath,
  type Reply,
  startIssuer,
} from '../harness/provider/issuer.ts';

const mebibyte = 1024 * 1024;

describe('what a relay learns from an issuer', () => {
  const client = createUpstreamClient('login-relay/test', { timeout: 10_000, concurrentCalls: 2 });
  let issuer: Issuer;
  let paths: Record<string, Reply>;
  before(async () => {
    issuer = await startIssuer(() => paths);
  });
  after(async () => {
    client.close();
    await issuer.close();
  });

  async function discover(source: Partial<DiscoverySource> = {}) {
    return await discoverProvider(client, {
      issuer: issuer.origin,
      given: {},
      insecureHttp: false,
      ...source,
    });
  }

  /** Learns from metadata in order, but for the changes. */
  async function learn(changes: Record<string, unknown>, source: Partial<DiscoverySource> = {}) {
    paths = { [openIdPath]: json(metadata(issuer.origin, changes)) };
    return await discover(source);
  }

  async function failureOf(learning: Promise<unknown>): Promise<DiscoveryError> {
    const error = await learning.catch((reason: unknown) => reason);
    if (error instanceof DiscoveryError) return error;
    throw new Error(`no DiscoveryError: ${JSON.stringify(error)}`);
  }

  it('is its endpoints, and what they take', async () => {
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
      tokenRequest: 'body',
      pkce: true,
      issuer: issuer.origin,
      issRequired: true,
    });
  });

  it('is the most careful reading, where the metadata says no more than it must', async () => {
    expect(await learn({})).to.include({ tokenRequest: 'basic', pkce: false, issRequired: false });
  });

  for (const methods of [['plain'], 'S256', {}, null]) {
    it(`is no PKCE, where the metadata lists ${JSON.stringify(methods)} for it`, async () => {
      expect(await learn({ code_challenge_methods_supported: methods })).to.include({
        pkce: false,
      });
    });
  }

  for (const promise of ['true', 1, {}, null]) {
    it(`is no promise of iss, where the metadata has ${JSON.stringify(promise)} for it`, async () => {
      expect(await learn({ authorization_response_iss_parameter_supported: promise })).to.include({
        issRequired: false,
      });
    });
  }

  it('is nothing of what is given by hand, though the metadata lacks it or has it wrong', async () => {
    const given = {
      authorizeUrl: 'https://a.example/authorize',
      tokenUrl: 'https://a.example/token',
      userUrl: 'https://a.example/user',
      scope: 'email',
      tokenRequest: 'query',
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

  it('is an endpoint on another host and port, with a query', async () => {
    const authorization_endpoint = 'https://login.example:8443/authorize?tenant=a%20b';
    const { authorizeUrl } = await learn({ authorization_endpoint });
    expect(authorizeUrl).to.equal(authorization_endpoint);
  });

  it('is an endpoint on plain http, where that is allowed', async () => {
    const token_endpoint = 'http://sso.example.com/token';
    const { tokenUrl } = await learn({ token_endpoint }, { insecureHttp: true });
    expect(tokenUrl).to.equal(token_endpoint);
  });

  it('comes from OAuth metadata, where there is none of OpenID Connect', async () => {
    const path = '/realms/main';
    const name = `${issuer.origin}${path}`;
    paths = { [oauthPath + path]: json(metadata(name)) };
    expect(await discover({ issuer: name })).to.include({ issuer: name });
    expect(issuer.asked.slice(-2)).to.deep.equal([path + openIdPath, oauthPath + path]);
  });

  it('comes from the same place for an issuer with a final slash', async () => {
    const name = `${issuer.origin}/realms/main/`;
    paths = { [`/realms/main${openIdPath}`]: json(metadata(name)) };
    expect(await discover({ issuer: name })).to.include({ issuer: name });
  });

  it('comes from metadata of just under 1 MiB', async () => {
    const room = mebibyte - JSON.stringify(metadata(issuer.origin, { padding: '' })).length;
    expect(await learn({ padding: 'x'.repeat(room) })).to.include({ issuer: issuer.origin });
    const failure = await failureOf(learn({ padding: 'x'.repeat(room + 1) }));
    expect(failure.reason).to.equal('too_large');
  });

  describe('is nothing', () => {
    for (const [what, changes, reason] of [
      ['a missing issuer', { issuer: undefined }, 'issuer_mismatch'],
      ['an issuer that is a list', { issuer: [] }, 'issuer_mismatch'],
      ['no authorization endpoint', { authorization_endpoint: undefined }, 'endpoint_missing'],
      ['no token endpoint', { token_endpoint: undefined }, 'endpoint_missing'],
      ['no userinfo endpoint', { userinfo_endpoint: undefined }, 'endpoint_missing'],
      ['an endpoint that is null', { token_endpoint: null }, 'endpoint_unusable'],
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
      [
        'no way for a secret',
        { token_endpoint_auth_methods_supported: [] },
        'client_authentication',
      ],
      [
        'a way that is no list',
        { token_endpoint_auth_methods_supported: null },
        'client_authentication',
      ],
    ] as const) {
      it(`where the metadata has ${what}`, async () => {
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
      it(`where an endpoint is at ${host}, even over https`, async () => {
        const failure = await failureOf(learn({ token_endpoint: `https://${host}/` }));
        expect(failure.reason).to.equal('endpoint_unusable');
      });
    }

    it('where an endpoint is at a link-local address, which the explanation does not call http', async () => {
      const failure = await failureOf(learn({ token_endpoint: 'https://169.254.169.254/' }));
      expect(failure.explanation).to.match(/link-local|metadata address/);
    });

    for (const [what, reply] of [
      ['a list', json([])],
      ['nothing', bytes(200, 'application/json', '')],
      ['half an object', bytes(200, 'application/json', '{"issuer":')],
      ['a page', bytes(200, 'text/html', '<!doctype html>')],
    ] as const) {
      it(`where the answer is ${what}`, async () => {
        paths = { [openIdPath]: reply, [oauthPath]: json(metadata(issuer.origin)) };
        expect((await failureOf(discover())).reason).to.equal('not_json');
      });
    }
  });

  describe('is nothing where a remote issuer', () => {
    const remote = 'https://id.example';

    /** Learns from what an issuer elsewhere answers. */
    async function learnFrom(
      origin: string,
      changes: Record<string, unknown>,
      source: Partial<DiscoverySource> = {},
    ) {
      const body = Buffer.from(JSON.stringify(metadata(origin, changes)));
      const elsewhere = { ...client, call: async () => ({ status: 200, headers: {}, body }) };
      const from = { issuer: origin, given: {}, insecureHttp: false, ...source };
      return await discoverProvider(elsewhere, from);
    }

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

    it('names such an endpoint, unless it is given by hand', async () => {
      const tokenUrl = 'http://127.0.0.1:8080/token';
      const changes = { token_endpoint: 'http://127.0.0.1:9090/token' };
      const provider = await learnFrom(remote, changes, { given: { tokenUrl } });
      expect(provider.tokenUrl).to.equal(tokenUrl);
    });

    it('but learned where its endpoints are elsewhere and have other parameters', async () => {
      const tokenUrl = 'https://api.other.example/token?tenant=1';
      expect(await learnFrom(remote, { token_endpoint: tokenUrl })).to.include({ tokenUrl });
      const plain = { issuer: 'http://id.example', insecureHttp: true };
      expect(await learnFrom(plain.issuer, {}, plain)).to.include({ issuer: plain.issuer });
    });
  });
});
