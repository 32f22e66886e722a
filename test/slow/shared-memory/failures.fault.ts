import { expect } from 'chai';
import { memoryProgram } from '../../harness/system/memory-server.ts';
import { needsPrograms } from '../../harness/system/needs.ts';
import { contend, logged, pause, withServer } from './support/contention.ts';

const { describe } = needsPrograms(memoryProgram);

// A machine that is busy with other work can be slower than these faults.
describe('relays whose shared memory', function () {
  this.timeout(90_000);

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
});
