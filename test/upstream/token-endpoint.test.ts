import { expect } from 'chai';
import { changesWhenEncoded } from '../../src/oauth/client-authentication.ts';
import type { Provider, TokenRequestForm } from '../../src/providers/provider.ts';
import { Secret } from '../../src/sealing/secret.ts';
import { createUpstreamClient } from '../../src/upstream/client.ts';
import { userAgent } from '../../src/version.ts';
import { codeOf, outcomeOf } from '../harness/expect/failure-code.ts';
import { endpointsOf } from '../harness/provider/endpoints.ts';
import { nock, useNock } from '../harness/provider/nock.ts';

const origin = 'https://provider.example';
const path = '/token?tenant=1';
const redirectUri = 'https://login.example.com/auth/provider/callback';
const formType = { 'content-type': 'application/x-www-form-urlencoded' };
const credentials = { client_id: 'client:id', client_secret: 's%cret +' };
/** The credentials in the Authorization header, before base64. */
const basicCredentials = [
  ['basic', 'client%3Aid:s%25cret+%2B'],
  ['basic-raw', 'client:id:s%cret +'],
] as const;
const basic = (text: string) => ({
  authorization: `Basic ${Buffer.from(text).toString('base64')}`,
});

type Changes = Partial<Provider>;

const client = createUpstreamClient({ timeout: 5000, concurrentCalls: 2 });
after(() => client.close());

describe('the token endpoint', () => {
  useNock();

  const exchange = async (how: TokenRequestForm, codeVerifier?: string, more: Changes = {}) => {
    const endpoints = endpointsOf(client, { tokenRequest: how, ...more });
    const grant = { code: 'the code', codeVerifier };
    return (await endpoints.requestToken(grant, () => {})).accessToken;
  };

  const success = { access_token: 'token' };
  const fields = { code: 'the code', redirect_uri: redirectUri };
  const grantType = { grant_type: 'authorization_code' };

  /** The provider gives a token for this query, without a body. */
  function expectQuery(query: object, reqheaders = {}): void {
    nock(origin, { reqheaders })
      .post('/token', (body) => body === '')
      .query({ tenant: '1', ...credentials, ...fields, ...query })
      .reply(200, success);
  }

  /** The provider gives a token for this form. */
  function expectForm(form: object, reqheaders = {}): void {
    nock(origin, { reqheaders })
      .post(path, { ...grantType, ...fields, ...form })
      .reply(200, success);
  }

  it('gets everything in the query, and no body, as the specification says', async () => {
    expectQuery({}, { accept: 'application/json', 'user-agent': userAgent });
    expect(await exchange('query')).to.equal('token');
  });

  it('gets a form with the credentials for client_secret_post', async () => {
    expectForm(credentials, formType);
    expect(await exchange('body')).to.equal('token');
  });

  for (const [how, sent] of basicCredentials) {
    it(`gets ${sent} in the Authorization header for ${how}`, async () => {
      expectForm({}, basic(sent));
      expect(await exchange(how)).to.equal('token');
    });
  }

  it('gets further parameters in addition to the others, each encoded once', async () => {
    const resource = ['https://a.example/?b=c d', 'https://e.example/+%20'];
    const tokenParams: [string, string][] = resource.map((value) => ['resource', value]);
    expectQuery({ resource });
    expect(await exchange('query', undefined, { tokenParams })).to.equal('token');
    for (const how of ['body', 'basic', 'basic-raw'] as const) {
      expectForm({ ...(how === 'body' && credentials), resource });
      expect(await exchange(how, undefined, { tokenParams })).to.equal('token');
    }
  });

  it('gets the code verifier if the login has a verifier', async () => {
    expectQuery({ code_verifier: 'verifier' });
    expect(await exchange('query', 'verifier')).to.equal('token');
    expectForm({ code_verifier: 'verifier' });
    expect(await exchange('basic', 'verifier')).to.equal('token');
  });

  it('is checked for whether form-encoding changes the credentials', () => {
    for (const [id, secret, changes] of [
      ['client-1', 'Abc_0.9*-', false],
      ['client-1', 'ab+/c=', true],
      ['client-1', 'with space', true],
      ['client-1', '~', true],
      ['client:1', 'abc', true],
    ] as const) {
      const credentials = { clientId: id, clientSecret: new Secret(secret) };
      expect(changesWhenEncoded(credentials), `${id} ${secret}`).to.equal(changes);
    }
  });

  async function outcome(status: number, body: string): Promise<string> {
    nock(origin).post('/token').query(true).reply(status, body);
    try {
      return `token ${await exchange('query')}`;
    } catch (error) {
      expect(error).to.not.have.property('cause');
      return codeOf(error);
    }
  }

  it('gives no token if it is too long for a request', async () => {
    const answer = (length: number) => JSON.stringify({ access_token: 'a'.repeat(length) });
    expect(await outcome(200, answer(15 * 1024))).to.match(/^token a+$/);
    expect(await outcome(200, answer(15 * 1024 + 1))).to.equal('token_missing');
    const key = JSON.stringify({ access_token: '\u{1f511}'.repeat(4 * 1024) });
    expect(await outcome(200, key)).to.equal('token_missing');
  });
});

describe('a refresh at the provider', () => {
  useNock();

  function refresh(how: TokenRequestForm = 'body', scope?: string, more: Changes = {}) {
    const endpoints = endpointsOf(client, { tokenRequest: how, ...more });
    return endpoints.requestToken({ refreshToken: 'ghr_+/=', scope }, () => {});
  }

  const fields = { grant_type: 'refresh_token', refresh_token: 'ghr_+/=' };
  const tokens = { access_token: 'new', refresh_token: 'next', expires_in: 28800 };

  for (const how of ['body', 'query'] as const) {
    it(`sends the secret in the form, never in the URL, with client authentication by ${how}`, async () => {
      nock(origin, { reqheaders: formType })
        .post(path, { ...credentials, ...fields })
        .reply(200, tokens);
      expect(await refresh(how)).to.include({ accessToken: 'new', refreshToken: 'next' });
    });
  }

  it('requests a narrower scope, instead of a scope in the further parameters', async () => {
    const resource = 'https://api.example';
    const tokenParams: [string, string][] = [
      ['scope', 'all'],
      ['refresh_token', 'another'],
      ['resource', resource],
    ];
    for (const scope of ['read', undefined]) {
      nock(origin)
        .post(path, { ...credentials, ...fields, scope: scope ?? 'all', resource })
        .reply(200, tokens);
      await refresh('body', scope, { tokenParams });
    }
  });

  it('sends the headers that the provider requires', async () => {
    const requestHeaders = { 'user-agent': 'DiscordBot' };
    nock(origin, { reqheaders: requestHeaders }).post(path).reply(200, tokens);
    await refresh('body', undefined, { requestHeaders });
  });

  it('reads the answer in the dialect of the provider', async () => {
    nock(origin).post(path).reply(200, { access_token: 'new', scope: 'a,b' });
    const { scope } = await refresh('body', undefined, { answerScopeSeparator: ',' });
    expect(scope).to.equal('a b');
  });

  const refusals: Record<string, [status: number, body: object | string][]> = {
    refresh_refused: [
      [400, { error: 'invalid_grant' }],
      [403, { error: 'invalid_grant', error_description: 'Unknown or invalid refresh token.' }],
      // GitHub
      [200, { error: 'bad_refresh_token' }],
      // Twitch
      [400, { error: 'Bad Request', status: 400, message: 'Invalid refresh token' }],
      // Slack
      [200, { ok: false, error: 'invalid_refresh_token' }],
      [200, { ok: false, error: 'of_its_own' }],
      // Twitch, after the user has changed the password
      [401, { status: 401, message: 'Invalid refresh token' }],
      // Gitea and Forgejo
      [400, { error: 'unauthorized_client', error_description: 'unable to parse refresh token' }],
      [400, { error: 'unauthorized_client', error_description: 'token was already used' }],
      [400, { error: 'interaction_required' }],
      [400, { error: { code: 190 } }],
    ],
    scope_refused: [[400, { error: 'invalid_scope' }]],
    client_refused: [
      [401, { error: 'invalid_client' }],
      [400, { error: 'unauthorized_client' }],
    ],
    token_endpoint_failed: [
      [500, { error: 'invalid_grant' }],
      [503, ''],
      // A page of a firewall says nothing about the refresh token.
      [403, '<h1>Forbidden</h1>'],
      [403, { message: 'Forbidden' }],
      [403, { status: 403, error: 'Forbidden', path: '/token' }],
      [404, { statusCode: 404, error: 'Not Found', message: 'Route not found' }],
      // GitHub, beyond its rate limits
      [403, { message: 'You have exceeded a secondary rate limit.' }],
      // Slack, in a moment of trouble
      [200, { ok: false, error: 'fatal_error' }],
      [200, { ok: false, error: 'internal_error' }],
      [200, { ok: false, error: 'ratelimited' }],
      [200, { ok: false, error: 'service_unavailable' }],
      [302, ''],
    ],
    token_missing: [
      [200, {}],
      [200, { access_token: '' }],
      [200, { error: null, message: null }],
    ],
  };
  for (const [outcome, answers] of Object.entries(refusals)) {
    for (const [status, body] of answers) {
      it(`fails with ${outcome} after ${status} ${JSON.stringify(body)}`, async () => {
        nock(origin).post(path).reply(status, body);
        expect(await outcomeOf(refresh())).to.equal(outcome);
      });
    }
  }
});
