import { expect } from 'chai';
import type { RevocableTokens } from '../../src/oauth/revocation.ts';
import type { Revocation, TokenRequestForm } from '../../src/providers/provider.ts';
import { createUpstreamClient } from '../../src/upstream/client.ts';
import { codeOf } from '../harness/expect/failure-code.ts';
import { endpointsOf } from '../harness/provider/endpoints.ts';
import { nock, useNock } from '../harness/provider/nock.ts';

const origin = 'https://provider.example';
const url = `${origin}/revoke`;
const rfc7009: Revocation = { url, request: 'rfc7009' };

describe('a revocation at the provider', () => {
  const client = createUpstreamClient({ timeout: 5000, concurrentCalls: 2 });
  after(() => client.close());
  useNock();

  const both = { refreshToken: 'refresh+/=', accessToken: 'access' };

  /** @returns the number of calls */
  async function revoke(
    revocation: Revocation | undefined,
    tokens: RevocableTokens = both,
    tokenRequest: TokenRequestForm = 'body',
  ): Promise<number> {
    const requestHeaders = { 'user-agent': 'DiscordBot' };
    const endpoints = endpointsOf(client, { revocation, tokenRequest, requestHeaders });
    let calls = 0;
    await endpoints.revokeToken(tokens, ({ endpoint: called }) => {
      expect(called).to.equal('revocation');
      calls += 1;
    });
    return calls;
  }

  const credentials = { client_id: 'client:id', client_secret: 's%cret +' };
  const refreshToken = { token: both.refreshToken, token_type_hint: 'refresh_token' };
  const accessToken = { token: both.accessToken, token_type_hint: 'access_token' };
  const basic = (text: string) => `Basic ${Buffer.from(text).toString('base64')}`;
  const form = { 'content-type': 'application/x-www-form-urlencoded' };

  it('sends the refresh token, and the secret never in the URL', async () => {
    for (const how of ['body', 'query'] as const) {
      nock(origin, { reqheaders: { ...form, 'user-agent': 'DiscordBot' } })
        .post('/revoke', { ...credentials, ...refreshToken })
        .reply(200);
      expect(await revoke(rfc7009, both, how)).to.equal(1);
    }
  });

  it('authenticates the client as at the token endpoint', async () => {
    const sent = { basic: 'client%3Aid:s%25cret+%2B', 'basic-raw': 'client:id:s%cret +' };
    for (const how of ['basic', 'basic-raw'] as const) {
      nock(origin, { reqheaders: { authorization: basic(sent[how]) } })
        .post('/revoke', refreshToken)
        .reply(200);
      expect(await revoke(rfc7009, both, how)).to.equal(1);
    }
  });

  it('sends the access token if there is no other token, or if the provider accepts no other kind', async () => {
    const expected = { ...credentials, ...accessToken };
    nock(origin).post('/revoke', expected).twice().reply(200);
    expect(await revoke(rfc7009, { accessToken: 'access' })).to.equal(1);
    expect(await revoke({ ...rfc7009, takes: 'access_token' })).to.equal(1);
  });

  it('makes no call if the provider does not revoke this kind of token', async () => {
    expect(await revoke(undefined)).to.equal(0);
    expect(await revoke(rfc7009, {})).to.equal(0);
    const onlyRefresh: Revocation = { ...rfc7009, takes: 'refresh_token' };
    expect(await revoke(onlyRefresh, { accessToken: 'access' })).to.equal(0);
  });

  it('deletes the access token at GitHub', async () => {
    const revocation: Revocation = {
      url: `${origin}/applications/client/token`,
      request: 'github',
      takes: 'access_token',
    };
    const authorization = basic('client:id:s%cret +');
    nock(origin, { reqheaders: { authorization, 'content-type': 'application/json' } })
      .delete('/applications/client/token', { access_token: 'access' })
      .reply(204);
    expect(await revoke(revocation)).to.equal(1);
  });

  it('sends no secret to Twitch, and only the token to Google', async () => {
    for (const [revocation, sent] of [
      [
        { url, request: 'public-client', takes: 'access_token' },
        { client_id: 'client:id', token: 'access' },
      ],
      [{ url, request: 'token-only' }, { token: both.refreshToken }],
    ] as const) {
      nock(origin, { reqheaders: form, badheaders: ['authorization'] })
        .post('/revoke', sent)
        .reply(200);
      expect(await revoke(revocation)).to.equal(1);
    }
  });

  it('sends the token as bearer to Slack', async () => {
    const slack: Revocation = { url, request: 'bearer', takes: 'access_token' };
    nock(origin, { reqheaders: { authorization: 'Bearer access' } })
      .post('/revoke', (body) => body === '')
      .reply(200, { ok: true, revoked: true });
    expect(await revoke(slack)).to.equal(1);
    for (const accessToken of ['a\r\nb: c', 'é', '']) {
      expect(await revoke(slack, { accessToken })).to.equal(0);
    }
  });

  async function outcome(status: number, body: object | string, request: Revocation['request']): Promise<string> {
    nock(origin).post('/revoke').reply(status, body);
    try {
      await revoke({ url, request });
      return 'revoked';
    } catch (error) {
      expect(error).to.have.property('detail').that.does.not.include('Token retrieval');
      return codeOf(error);
    }
  }

  for (const [expected, answers] of Object.entries<[number, object | string, ('bearer' | 'token-only')?][]>({
    revoked: [
      [200, {}],
      [204, ''],
      [200, { ok: false, error: 'token_revoked' }],
    ],
    token_invalid: [
      [400, { error: 'invalid_token' }],
      [400, { error: 'unsupported_token_type' }],
      [404, { message: 'Not Found' }],
      [422, { message: 'Validation Failed' }],
      [401, {}, 'bearer'],
      [401, {}, 'token-only'],
    ],
    client_refused: [
      [401, {}],
      [401, { error: 'invalid_client' }],
      [400, { error: 'invalid_client' }],
    ],
    // The token may still be valid.
    provider_answer_unusable: [302, 403, 405, 429, 500, 503].map((status) => [status, '<h1>']),
  })) {
    for (const [status, body, request = 'rfc7009'] of answers) {
      it(`ends with ${expected} after ${status} ${JSON.stringify(body)} to ${request}`, async () => {
        expect(await outcome(status, body, request)).to.equal(expected);
      });
    }
  }
});
