import { expect } from 'chai';
import { type OpenPort, openPort } from '../../../src/demo/ports.ts';
import { createDemoProvider } from '../../../src/demo/provider.ts';
import { check, clientSecret, redirectUri } from '../../check/support/check.ts';
import { clientId } from '../../check/support/own-addresses.ts';
import { canary } from '../../harness/expect/canaries.ts';
import type { Flags } from '../../harness/relay/relay-process.ts';

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

  it('finds no problem with discovery', async () => {
    const { code, report } = await check({ flags: { issuer } });
    expect(report.findings.map(({ subject, verdict }) => [subject, verdict])).to.deep.equal([
      ['addresses', 'ok'],
      ['base URL', 'ok'],
      ['front end', 'ok'],
      ['discovery', 'ok'],
      // Only a login shows it.
      ['refresh', 'not_checked'],
      ['revocation', 'ok'],
      ['authorization endpoint', 'not_checked'],
      ['PKCE', 'not_checked'],
      ['token endpoint', 'ok'],
      ['user lookup', 'ok'],
    ]);
    expect(code).to.equal(0);
  });

  it('finds no problem with configured endpoints', async () => {
    const { code, complaints } = await check({ flags: byHand() });
    expect({ code, complaints }).to.deep.equal({ code: 0, complaints: [] });
  });

  it('names a wrong client secret, and its source', async () => {
    const { code, complaints } = await check({ flags: byHand(), secret: canary('secret') });
    expect(code).to.equal(1);
    expect(complaints).to.deep.equal([
      'problem: token endpoint: the provider does not accept the client identifier with this client secret (tried: body, basic) → correct the secret in the file of --client-secret-file (PROVIDER_CLIENT_SECRET_FILE), or --client-id (PROVIDER_CLIENT_ID)',
    ]);
  });

  it('names several problems at once', async () => {
    const { code, report } = await check({
      flags: {
        ...byHand(),
        'base-url': 'http://127.0.0.1:9',
        origin: 'http://127.0.0.1:9',
        'user-url': `${issuer}/nobody`,
      },
      secret: canary('secret'),
    });
    expect(code).to.equal(1);
    expect(report.findings.map(({ subject, verdict }) => [subject, verdict])).to.deep.equal([
      ['addresses', 'ok'],
      ['base URL', 'not_checked'],
      ['front end', 'warning'],
      ['refresh', 'not_checked'],
      ['revocation', 'ok'],
      ['authorization endpoint', 'problem'],
      ['token endpoint', 'problem'],
      ['user lookup', 'problem'],
    ]);
  });
});
