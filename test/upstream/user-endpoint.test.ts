import { expect } from 'chai';
import type { Provider } from '../../src/providers/provider.ts';
import { createUpstreamClient } from '../../src/upstream/client.ts';
import { codeOf } from '../harness/expect/failure-code.ts';
import { endpointsOf } from '../harness/provider/endpoints.ts';
import { nock, useNock } from '../harness/provider/nock.ts';

const origin = 'https://provider.example';

describe('the user lookup', () => {
  const client = createUpstreamClient({ timeout: 5000, concurrentCalls: 2 });
  after(() => client.close());
  useNock();

  async function outcome(
    status: number,
    body: string | Buffer,
    quirks: Partial<Provider> = {},
    contentType = 'application/json',
  ): Promise<string> {
    nock(origin, { reqheaders: { authorization: 'Bearer token' } })
      .get('/user')
      .reply(status, body, { 'Content-Type': contentType });
    try {
      const { body: found } = await endpointsOf(client, quirks).lookUpUser('token', () => {});
      return Buffer.from(found).toString();
    } catch (error) {
      return codeOf(error);
    }
  }

  it('does not pass on a signed or encrypted record, whatever is in it', async () => {
    for (const body of ['eyJh.eyJz.c2ln', '{"login":"a"}']) {
      for (const type of ['application/jwt', 'Application/JWT; charset=utf-8']) {
        expect(await outcome(200, body, {}, type)).to.equal('user_record_signed');
      }
      expect(await outcome(401, body, {}, 'application/jwt')).to.equal('token_invalid');
    }
  });

  it('calls the token invalid only if the provider does so', async () => {
    const outcomes = {
      201: 'lookup_failed',
      301: 'lookup_failed',
      401: 'token_invalid',
      403: 'lookup_forbidden',
      404: 'lookup_failed',
      429: 'lookup_postponed',
      500: 'lookup_failed',
      503: 'lookup_postponed',
    };
    for (const [status, expected] of Object.entries(outcomes)) {
      expect(await outcome(Number(status), '{"login":"a"}'), status).to.equal(expected);
    }
  });

  for (const [given, passed] of [
    [undefined, '10'],
    ['0', '1'],
    ['90', '90'],
    ['999999', '3600'],
    ['Fri, 01 Jan 2100 00:00:00 GMT', '10'],
    ['-1', '10'],
    ['1e9', '10'],
  ] as const) {
    it(`answers a Retry-After of ${given} with ${passed}`, async () => {
      nock(origin)
        .get('/user')
        .reply(429, '{}', given === undefined ? {} : { 'Retry-After': given });
      const failure = await endpointsOf(client)
        .lookUpUser('token', () => {})
        .catch((error: unknown) => error);
      expect(failure).to.have.deep.property('headers', { 'Retry-After': passed });
    });
  }

  it('refuses the token if the provider does so with status 200', async () => {
    const quirks = { userRejectedWhen: { field: 'ok', equals: false } };
    expect(await outcome(200, '{"ok":false}', quirks)).to.equal('token_invalid');
    expect(await outcome(200, '{"ok":true}', quirks)).to.equal('{"ok":true}');
    expect(await outcome(200, '{"ok":false}')).to.equal('{"ok":false}');
  });
});
