import { setTimeout as pause } from 'node:timers/promises';
import { expect } from 'chai';
import { eventually } from '../../harness/system/eventually.ts';
import { MemoryServer, memoryProgram } from '../../harness/system/memory-server.ts';
import { needsPrograms } from '../../harness/system/needs.ts';
import { contend, logged, refreshAtTwo, withServer } from './support/contention.ts';
import { Relays, slowly } from './support/relays.ts';

const { describe } = needsPrograms(memoryProgram);

// A machine that is busy with other work can be slower than these faults.
describe('relays whose shared memory', () => {
  it('is killed while tabs wait for a refresh log nobody out', () =>
    withServer(async (relays, server) => {
      const calls = await contend(relays, async () => {
        await pause(80);
        await server.kill();
      });
      expect(calls).to.equal(1);
      await logged(relays, 'shared memory is away');
      const ready = await relays.at(0).get('/readyz');
      expect(JSON.parse(`${ready.body}`)).to.deep.equal({ status: 'ready', memory: 'away' });
      expect(ready.status).to.equal(200);
    }));

  it('is restarted empty while tabs refresh log nobody out', () =>
    withServer(async (relays, server) => {
      for (let turn = 0; turn < 4; turn += 1) {
        const calls = await contend(relays, async () => {
          await pause(60);
          await server.kill();
          await server.start();
        });
        expect(calls).to.equal(1);
      }
    }));

  it('is paused again and again for 0.4 seconds log nobody out', () =>
    withServer(async (relays, server) => {
      let isOver = false;
      const hiccups = (async () => {
        while (!isOver) {
          server.pause();
          await pause(400);
          server.resume();
          await pause(100);
        }
      })();
      for (let turn = 0; turn < 8; turn += 1) expect(await contend(relays)).to.equal(1);
      isOver = true;
      await hiccups;
    }));

  it('fails over, and loses a Sentinel, share it as before', async () => {
    const primary = await MemoryServer.start();
    const replica = await MemoryServer.start('--replicaof', `127.0.0.1 ${primary.port}`);
    const sentinels = await Promise.all([1, 2, 3].map(() => MemoryServer.sentinelOf(primary)));
    await eventually(async () => {
      const [info] = (await sentinels[0]?.run(['SENTINEL', 'REPLICAS', 'main'])) ?? [];
      expect(JSON.stringify(info)).to.include(`${replica.port}`);
    });
    const hosts = sentinels.map(({ port }) => `127.0.0.1:${port}`).join(',');
    const relays = await Relays.start(2, { 'shared-memory': `redis+sentinel://${hosts}/main` });
    try {
      slowly(relays.provider);
      await primary.kill();
      await logged(relays, 'shared memory is back');
      expect(await refreshAtTwo(relays)).to.equal(1);
      const names = (await replica.content()).map(({ key }) => key);
      expect(names.some((name) => name.includes(':r:'))).to.equal(true);
      await sentinels[0]?.kill();
      const before = relays.each.map(({ process: relay }) => relay.logLines.length);
      for (let turn = 0; turn < 5; turn += 1) expect(await refreshAtTwo(relays)).to.equal(1);
      const later = relays.each.flatMap(({ process: relay }, at) => relay.logLines.slice(before[at]));
      expect(later.map(({ msg }) => msg)).to.not.include('shared memory is away');
    } finally {
      await relays.stop();
      await Promise.all([primary, replica, ...sentinels].map((server) => server.stop()));
    }
  });
});
