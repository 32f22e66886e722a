import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { expectUser } from '../../harness/expect/expectations.ts';
import { expectService, withRelay } from '../../harness/relay/relay-under-test.ts';
import { eventually } from '../../harness/system/eventually.ts';
import { fault } from '../../harness/system/fault.ts';
import { type NameServer, startNameServer } from '../../harness/system/name-server.ts';

describe('names that do not resolve', () => {
  const address = '127.0.0.153';
  let names: NameServer | undefined;
  let directory = '';
  before(async () => {
    names = await startNameServer(address);
    directory = await mkdtemp(join(tmpdir(), 'login-relay-'));
    await writeFile(join(directory, 'resolv.conf'), `nameserver ${address}\n`);
  });
  after(async () => {
    names?.close();
    await rm(directory, { recursive: true });
  });

  for (const { name, mood, statuses } of [
    { name: 'the name server fails', mood: 'fails', statuses: [502] },
    { name: 'the name server is silent', mood: 'is silent', statuses: [502, 504] },
  ] as const) {
    fault(
      `${name} for 20 s while 200 people ask`,
      `${statuses.join(' or ')} meanwhile, service after`,
      async () => {
        const server = names;
        if (server === undefined) throw new Error('there is no name server');
        const mount = `mount --bind "${join(directory, 'resolv.conf')}" /etc/resolv.conf`;
        await withRelay(
          {
            launcher: ['unshare', '--mount', 'sh', '-c', `${mount} && exec "$0" "$@"`],
            env: { INSECURE_HTTP: 'true' },
            flags: (provider) => ({
              'token-url': provider.tokenUrl.replace('127.0.0.1', 'provider.test'),
              'user-url': provider.userUrl.replace('127.0.0.1', 'provider.test'),
            }),
          },
          async (underTest) => {
            await expectService(underTest);
            server.mood = mood;
            for (const socket of underTest.provider.openSockets) socket.destroy();
            const start = performance.now();
            const seen: number[] = [];
            const askers = Array.from({ length: 200 }, async () => {
              while (performance.now() - start < 20_000) {
                seen.push((await underTest.lookUp()).status);
                await new Promise((resolve) => setTimeout(resolve, 1000));
              }
            });
            await Promise.all(askers);
            for (const status of seen) expect(status).to.be.oneOf([...statuses]);
            server.mood = 'answers';
            await eventually(async () => expectUser(await underTest.lookUp()));
            expect((await underTest.process.stop()).code).to.equal(0);
          },
        );
      },
    );
  }
});
