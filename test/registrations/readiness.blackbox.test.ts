import { expect } from 'chai';
import { expectError, expectRedirect } from '../harness/expect/expectations.ts';
import { startRelayWith } from '../harness/relay/relay-under-test.ts';

/** A file with one provider that is known, and one whose issuer is down. */
const configWith = (policy: string) => `port: 0
base-url: https://relay.example
${policy}
providers:
  github: { client-id: a, client-secret: s1 }
  staff: { issuer: 'http://127.0.0.1:1', client-id: b, client-secret: s2 }
front-ends:
  app: { origin: https://app.example }
`;

describe('readiness with a provider that is down', () => {
  for (const [policy, isReady] of [
    ['', true],
    ['ready-policy: all', false],
    ['ready-policy: any', true],
  ] as const) {
    it(`${isReady ? 'is' : 'is not'} given with ${policy || 'the default policy'}, and logins at the other provider start`, async () => {
      const running = await startRelayWith(configWith(policy));
      try {
        const answer = await running.get('/readyz');
        if (isReady) {
          expect(answer.status).to.equal(200);
          expect(JSON.parse(`${answer.body}`)).to.deep.equal({
            status: 'ready',
            unavailable: ['staff'],
          });
        } else {
          expect(expectError(answer, 503)).to.contain('provider_undiscovered (staff)');
        }
        expect(expectRedirect(await running.get('/auth/github')).host).to.equal('github.com');
        expectError(await running.get('/auth/staff'), 503);
      } finally {
        await running.stop();
      }
    });
  }
});
