import { expect } from 'chai';
import { RelayError } from '../../src/errors.ts';
import type { ClientAuthentication, Provider } from '../../src/providers/provider.ts';
import { createUpstreamClient } from '../../src/upstream/client.ts';
import { endpointsOf } from '../harness/provider/endpoints.ts';
import { nock, useNock } from '../harness/provider/nock.ts';

const origin = 'https://provider.example';

describe('a refresh at the provider', () => {
  const client = createUpstreamClient({ timeout: 5000, concurrentCalls: 2 });
  after(() => client.close());
  useNock();

  function refresh(
    clientAuthentication: ClientAuthentication = 'body',
    scope?: string,
    more: Pick<Provider, 'tokenParameters' | 'requestHeaders' | 'tokenResponse'> = {},
  ) {
    const endpoints = endpointsOf(client, { clientAuthentication, ...more });
    return endpoints.requestToken({ refreshToken: 'ghr_+/=', scope }, () => {});
  }

  const fields = { grant_type: 'refresh_token', refresh_token: 'ghr_+/=' };
  const credentials = { client_id: 'client:id', client_secret: 's%cret +' };
  const tokens = { access_token: 'new', refresh_token: 'next', expires_in: 28800 };

  for (const how of ['body', 'query'] as const) {
    it(`sends the secret in the form, never in the URL, with client authentication by ${how}`, async () => {
      nock(origin, { reqheaders: { 'content-type': 'application/x-www-form-urlencoded' } })
        .post('/token?tenant=1', { ...credentials, ...fields })
        .reply(200, tokens);
      expect(await refresh(how)).to.include({ accessToken: 'new', refreshToken: 'next' });
    });
  }

  it('sends the secret in the Authorization header with basic, and with basic-raw', async () => {
    const sent = { basic: 'client%3Aid:s%25cret+%2B', 'basic-raw': 'client:id:s%cret +' };
    for (const how of ['basic', 'basic-raw'] as const) {
      const authorization = `Basic ${Buffer.from(sent[how]).toString('base64')}`;
      nock(origin, { reqheaders: { authorization } })
        .post('/token?tenant=1', fields)
        .reply(200, tokens);
      expect(await refresh(how)).to.include({ accessToken: 'new' });
    }
  });

  it('requests a narrower scope, instead of one in the further parameters', async () => {
    const tokenParameters: [string, string][] = [
      ['scope', 'all'],
      ['refresh_token', 'another'],
      ['resource', 'https://api.example'],
    ];
    const further = { resource: 'https://api.example' };
    nock(origin)
      .post('/token?tenant=1', { ...credentials, ...fields, scope: 'read', ...further })
      .reply(200, tokens);
    await refresh('body', 'read', { tokenParameters });
    nock(origin)
      .post('/token?tenant=1', { ...credentials, ...fields, scope: 'all', ...further })
      .reply(200, tokens);
    await refresh('body', undefined, { tokenParameters });
  });

  it('sends the headers that the provider requires', async () => {
    nock(origin, { reqheaders: { 'user-agent': 'DiscordBot' } })
      .post('/token?tenant=1')
      .reply(200, tokens);
    await refresh('body', undefined, { requestHeaders: { 'user-agent': 'DiscordBot' } });
  });

  it('returns no refresh token if the provider keeps the old one', async () => {
    nock(origin).post('/token?tenant=1').reply(200, { access_token: 'new' });
    expect(await refresh()).to.include({ accessToken: 'new', refreshToken: undefined });
  });

  it('reads the answer in the dialect of the provider', async () => {
    nock(origin).post('/token?tenant=1').reply(200, { access_token: 'new', scope: 'a,b' });
    const { scope } = await refresh('body', undefined, { tokenResponse: { scopeSeparator: ',' } });
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
      [200, { error: 'incorrect_client_credentials' }],
      [403, { status: 403, message: 'invalid client secret' }],
    ],
    token_endpoint_failed: [
      [500, { error: 'invalid_grant' }],
      [503, ''],
      [429, {}],
      [400, { error: 'temporarily_unavailable' }],
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
    ],
  };
  for (const [outcome, answers] of Object.entries(refusals)) {
    for (const [status, body] of answers) {
      it(`fails with ${outcome} after ${status} ${JSON.stringify(body)}`, async () => {
        nock(origin).post('/token?tenant=1').reply(status, body);
        const error = await refresh().catch((thrown: unknown) => thrown);
        expect(error).to.be.instanceOf(RelayError);
        expect(error).to.have.property('code', outcome);
      });
    }
  }
});
