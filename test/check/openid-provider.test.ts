import { expect } from 'chai';
import { type OpenPort, openPort } from '../../src/demo/open-port.ts';
import { createDemoProvider } from '../../src/demo/provider.ts';
import { canary } from '../support/canaries.ts';
import type { Flags } from '../support/relay-process.ts';
import { check, clientId, clientSecret, redirectUri } from './support/check.ts';

describe('login-relay check, with a certified OpenID provider', () => {
  let port: OpenPort;
  let issuer: string;
  before('start the provider', async () => {
    port = await openPort(0, 'the provider');
    issuer = `http://127.0.0.1:${port.port}`;
    port.serve(createDemoProvider({ issuer, client: { clientId, clientSecret, redirectUri } }));
  });
  after('stop the provider', async () => await port.close());

  function byHand(): Flags {
    return {
      'authorize-url': `${issuer}/authorize`,
      'token-url': `${issuer}/token`,
      'user-url': `${issuer}/me`,
      'token-request': 'body',
      scope: 'openid',
    };
  }

  it('finds all well by discovery', async () => {
    const { code, report } = await check({ flags: { issuer } });
    expect(report.findings.map(({ subject, verdict }) => [subject, verdict])).to.deep.equal([
      ['addresses', 'ok'],
      ['discovery', 'ok'],
      ['authorization endpoint', 'ok'],
      ['token endpoint', 'ok'],
      ['user lookup', 'ok'],
      ['clock', 'ok'],
    ]);
    expect(code).to.equal(0);
  });

  it('finds all well with endpoints given by hand', async () => {
    const { code, complaints } = await check({ flags: byHand() });
    expect({ code, complaints }).to.deep.equal({ code: 0, complaints: [] });
  });

  it('names a wrong client secret, and where it was read', async () => {
    const { code, complaints } = await check({ flags: byHand(), secret: canary('secret') });
    expect(code).to.equal(1);
    expect(complaints).to.deep.equal([
      'problem: token endpoint: the provider does not accept the client secret for this client identifier → correct the secret in the file of --client-secret-file (PROVIDER_CLIENT_SECRET_FILE), or --client-id (PROVIDER_CLIENT_ID)',
    ]);
  });

  it('names an unknown client identifier', async () => {
    const result = await check({ flags: { issuer, 'client-id': 'client-2' } });
    expect(result.code).to.equal(1);
    expect(result.finding('authorization endpoint')).to.deep.equal({
      subject: 'authorization endpoint',
      verdict: 'problem',
      message: 'the provider does not know the client identifier',
      mend: 'correct --client-id (PROVIDER_CLIENT_ID)',
    });
    expect(result.finding('token endpoint').verdict).to.equal('problem');
  });

  it('names a redirect URI that is not registered, and says what to register', async () => {
    const { code, complaints } = await check({
      flags: { issuer, 'base-url': 'https://elsewhere.example' },
    });
    expect(code).to.equal(1);
    expect(complaints).to.deep.equal([
      'problem: authorization endpoint: the provider does not accept the redirect URI → register exactly https://elsewhere.example/auth/provider/callback as callback URL, or correct --base-url (BASE_URL)',
    ]);
  });

  it('finds out that the provider does not take the request in the query', async () => {
    const { code, complaints } = await check({ flags: { ...byHand(), 'token-request': 'query' } });
    expect(code).to.equal(1);
    expect(complaints).to.deep.equal([
      'problem: token endpoint: the provider does not take the token request in the way "query" → set --token-request (PROVIDER_TOKEN_REQUEST) to body',
    ]);
  });

  it('names several problems at once', async () => {
    const { code, report } = await check({
      flags: {
        ...byHand(),
        'base-url': 'http://localhost:8000',
        'user-url': `${issuer}/nobody`,
      },
      secret: canary('secret'),
    });
    expect(code).to.equal(1);
    expect(report.findings.map(({ subject, verdict }) => [subject, verdict])).to.deep.equal([
      ['addresses', 'warning'],
      ['authorization endpoint', 'problem'],
      ['token endpoint', 'problem'],
      ['user lookup', 'problem'],
      ['clock', 'ok'],
    ]);
  });

  it('tells which callback URL to register', async () => {
    const { report } = await check({ flags: { issuer } });
    expect(report.callbackUrl).to.equal(redirectUri);
  });
});
