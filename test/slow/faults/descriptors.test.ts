import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { expect } from 'chai';
import { expectUser } from '../../harness/expect/expectations.ts';
import { hangUp } from '../../harness/provider/provider-behaviours.ts';
import { expectService, type RelayUnderTest, withRelay } from '../../harness/relay/relay-under-test.ts';
import { eventually } from '../../harness/system/eventually.ts';
import { fault } from '../../harness/system/fault.ts';
import { needsPrograms } from '../../harness/system/needs.ts';

const { describe } = needsPrograms('prlimit');

describe('descriptors that run out', () => {
  fault(
    '100 connections where 64 descriptors are allowed',
    'the relay stays, and serves once some are free',
    async () => {
      await withRelay({ launcher: ['prlimit', '--nofile=64'] }, async (underTest) => {
        const { provider, port, process: relay } = underTest;
        const sockets = Array.from({ length: 100 }, () => connect(port, '127.0.0.1'));
        let refused = 0;
        for (const socket of sockets) {
          socket.on('error', () => {});
          socket.on('close', () => {
            refused += 1;
          });
        }
        await Promise.all(sockets.map(settled));
        await eventually(async () => expect(refused).to.be.greaterThan(0));
        expect(provider.calls).to.deep.equal([]);
        for (const socket of sockets) socket.destroy();
        await eventually(() => expectService(underTest));
        expect((await relay.stop()).code).to.equal(0);
      });
    },
  );

  fault(
    '1,100 idle connections where 1,024 descriptors are allowed',
    'probes, metrics and lookups as before, and a warning',
    async () => {
      const flags = { 'metrics-port': '0' };
      await withRelay({ flags, launcher: ['prlimit', '--nofile=1024'] }, async (underTest) => {
        const line = await underTest.process.logLine(({ openFiles }) => openFiles === 1024);
        expect(line).to.include({ level: 'warn', maxConnections: 4096, connections: 640 });
        const sockets = Array.from({ length: 1100 }, () => connect(underTest.port, '127.0.0.1'));
        for (const socket of sockets) socket.on('error', () => {});
        await Promise.all(sockets.map(settled));
        for (let time = 0; time < 5; time += 1) {
          expect((await underTest.get('/readyz')).status).to.equal(200);
          expect(await underTest.metrics()).to.contain('limits_hit_total{limit="connections"}');
          await expectService(underTest);
        }
        for (const socket of sockets) socket.destroy();
      });
    },
  );

  for (const { moment, prepare } of [
    {
      moment: 'for a connection to the provider',
      prepare: async (underTest: RelayUnderTest) => void expectUser(await underTest.lookUp()),
    },
    { moment: 'from the start', prepare: async () => {} },
  ]) {
    fault(
      `no descriptor is left ${moment}`,
      '502 for clients that are connected, and service once one is free',
      async () => {
        await withRelay({ launcher: ['prlimit', '--nofile=64'] }, async (underTest) => {
          const { provider, process: relay } = underTest;
          await prepare(underTest);
          // The provider does not answer, so each lookup uses two descriptors.
          provider.onUser = () => {};
          const seen: number[] = [];
          const answers = Array.from({ length: 60 }, async () => {
            const answered = await underTest.lookUp().catch(() => undefined);
            seen.push(answered?.status ?? 0);
          });
          await Promise.race(answers);
          provider.onUser = hangUp;
          for (const socket of provider.openSockets) socket.destroy();
          await Promise.all(answers);
          for (const status of seen) expect(status).to.be.oneOf([0, 502]);
          provider.forget();
          await eventually(() => expectService(underTest));
          expect((await relay.stop()).code).to.equal(0);
        });
      },
    );
  }
});

async function settled(socket: Socket): Promise<void> {
  if (socket.connecting) await Promise.race([once(socket, 'connect'), once(socket, 'close')]);
}
