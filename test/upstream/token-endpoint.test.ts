import { expect } from 'chai';
import { RelayError } from '../../src/errors.ts';
import { encodingChanges } from '../../src/oauth/client-authentication.ts';
import type {
  ClientAuthentication,
  ExtraParameters,
  Provider,
} from '../../src/providers/provider.ts';
import { Secret } from '../../src/secret.ts';
import { createUpstreamClient } from '../../src/upstream/client.ts';
import { userAgent } from '../../src/version.ts';
import { endpointsOf } from '../harness/provider/endpoints.ts';
import { nock, useNock } from '../harness/provider/nock.ts';

const origin = 'https://provider.example';
const redirectUri = 'https://login.example.com/auth/provider/callback';

describe('the token endpoint', () => {
  const client = createUpstreamClient({ timeout: 5000, concurrentCalls: 2 });
  after(() => client.close());
  useNock();

  const exchange = async (
    clientAuthentication: ClientAuthentication,
    codeVerifier?: string,
    more: Pick<Provider, 'tokenParameters'> = {},
  ) => {
    const endpoints = endpointsOf(client, { clientAuthentication, ...more });
    const grant = { code: 'the code', codeVerifier };
    const { accessToken } = await endpoints.requestToken(grant, () => {});
    return accessToken;
  };

  const success = { access_token: 'token' };
  const fields = { code: 'the code', redirect_uri: redirectUri };
  const credentials = { client_id: 'client:id', client_secret: 's%cret +' };

  it('gets everything in the query, and no body, as the specification says', async () => {
    nock(origin, { reqheaders: { accept: 'application/json', 'user-agent': userAgent } })
      .post('/token', (body) => body === '')
      .query({ tenant: '1', ...credentials, ...fields })
      .reply(200, success);
    expect(await exchange('query')).to.equal('token');
  });

  it('gets a form with the credentials for client_secret_post', async () => {
    nock(origin, { reqheaders: { 'content-type': 'application/x-www-form-urlencoded' } })
      .post('/token', { grant_type: 'authorization_code', ...credentials, ...fields })
      .query({ tenant: '1' })
      .reply(200, success);
    expect(await exchange('body')).to.equal('token');
  });

  for (const [how, sent] of [
    ['basic', 'client%3Aid:s%25cret+%2B'],
    ['basic-raw', 'client:id:s%cret +'],
  ] as const) {
    it(`gets ${sent} in the Authorization header for ${how}`, async () => {
      const authorization = `Basic ${Buffer.from(sent).toString('base64')}`;
      nock(origin, { reqheaders: { authorization } })
        .post('/token', { grant_type: 'authorization_code', ...fields })
        .query({ tenant: '1' })
        .reply(200, success);
      expect(await exchange(how)).to.equal('token');
    });
  }

  it('gets further parameters beside the others, each encoded once', async () => {
    const tokenParameters: ExtraParameters = [
      ['resource', 'https://a.example/?b=c d'],
      ['resource', 'https://e.example/+%20'],
    ];
    const twice = { resource: ['https://a.example/?b=c d', 'https://e.example/+%20'] };
    nock(origin)
      .post('/token', (body) => body === '')
      .query({ tenant: '1', ...credentials, ...fields, ...twice })
      .reply(200, success);
    expect(await exchange('query', undefined, { tokenParameters })).to.equal('token');
    for (const how of ['body', 'basic', 'basic-raw'] as const) {
      nock(origin)
        .post('/token', {
          grant_type: 'authorization_code',
          ...(how === 'body' && credentials),
          ...fields,
          ...twice,
        })
        .query({ tenant: '1' })
        .reply(200, success);
      expect(await exchange(how, undefined, { tokenParameters })).to.equal('token');
    }
  });

  it('gets the code verifier if the login has one', async () => {
    const all = { ...fields, code_verifier: 'verifier' };
    nock(origin)
      .post('/token')
      .query({ tenant: '1', ...credentials, ...all })
      .reply(200, success);
    expect(await exchange('query', 'verifier')).to.equal('token');
    nock(origin)
      .post('/token', { grant_type: 'authorization_code', ...all })
      .query({ tenant: '1' })
      .reply(200, success);
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
      expect(encodingChanges(credentials), `${id} ${secret}`).to.equal(changes);
    }
  });

  async function outcome(status: number, body: string): Promise<string> {
    nock(origin).post('/token').query(true).reply(status, body);
    try {
      return `token ${await exchange('query')}`;
    } catch (error) {
      expect(error).to.be.instanceOf(RelayError);
      expect(error).to.not.have.property('cause');
      return error instanceof RelayError ? error.code : '';
    }
  }

  it('gives no token if it is too long for a request', async () => {
    const answer = (length: number) => JSON.stringify({ access_token: 'a'.repeat(length) });
    expect(await outcome(200, answer(15 * 1024))).to.match(/^token a+$/);
    expect(await outcome(200, answer(15 * 1024 + 1))).to.equal('token_missing');
    const key = JSON.stringify({ access_token: '\u{1f511}'.repeat(4 * 1024) });
    expect(await outcome(200, key)).to.equal('token_missing');
  });

  it('gives no token if its 200 has no usable one', async () => {
    const bodies = [
      ...['', '{}', 'null', '[]', '"token"', '{"access_token":', '<html></html>'],
      ...['\u{FEFF}{"access_token":"a"}', '{"access_token":null}', '{"access_token":""}'],
      ...['{"access_token":{"a":1}}', '{"access_token":["a"]}', '{"access_token":1}'],
      ...['{"access_token":"\\ud800"}', '{"error":""}', '{"error":{"error":"invalid_grant"}}'],
      ...['{"error":"of_its_own"}', '{"error":"invalid_request"}', 'access_token=token&scope='],
    ];
    for (const body of bodies) expect(await outcome(200, body), body).to.equal('token_missing');
  });
});
