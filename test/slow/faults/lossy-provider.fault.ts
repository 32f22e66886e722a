import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { canary } from '../../harness/expect/canaries.ts';
import { expectToken, expectUser } from '../../harness/expect/expectations.ts';
import { withRelay } from '../../harness/relay/relay-under-test.ts';
import { fault } from '../../harness/system/fault.ts';

describe('a provider with a slow and lossy network', () => {
  const here = '10.77.0.1';
  const farAway = '10.77.0.2';
  let link: ChildProcess | undefined;
  before('the link is up', async () => {
    const script = fileURLToPath(new URL('../../harness/system/lossy-link.py', import.meta.url));
    link = spawn('python3', [script, '100', '2'], { stdio: ['ignore', 'pipe', 'inherit'] });
    await Promise.race([
      once(link.stdout ?? link, 'data'),
      once(link, 'exit').then(() => {
        throw new Error('there is no link: it takes root and /dev/net/tun');
      }),
    ]);
  });
  after(() => link?.kill());

  fault(
    'the provider is behind 200 ms of latency and 2 % of loss each way',
    '300 logins and 300 lookups, 20 at a time, none fails, each code sent once',
    async () => {
      await withRelay(
        {
          providerHost: here,
          env: { INSECURE_HTTP: 'true' },
          flags: (provider) => ({
            'token-url': provider.tokenUrl.replace('127.0.0.1', farAway),
            'user-url': provider.userUrl.replace('127.0.0.1', farAway),
          }),
        },
        async (underTest) => {
          const { provider } = underTest;
          const codes: string[] = [];
          const times: number[] = [];
          const people = Array.from({ length: 20 }, async () => {
            for (let time = 0; time < 15; time += 1) {
              const start = performance.now();
              const code = canary('code');
              codes.push(code);
              expect(expectToken(await underTest.logIn(code))).to.equal(provider.tokenFor(code));
              expectUser(await underTest.lookUp());
              times.push((performance.now() - start) / 2);
            }
          });
          await Promise.all(people);
          expect(provider.credentials('token').toSorted()).to.deep.equal(codes.toSorted());
          const median = times.toSorted((a, b) => a - b)[times.length >> 1];
          expect(median).to.be.greaterThan(200);
          expect((await underTest.process.stop()).code).to.equal(0);
        },
      );
    },
  );
});
