import { readdirSync, readFileSync } from 'node:fs';
import { expect } from 'chai';
import { startRelay } from '../../harness/relay/relay-under-test.ts';
import { needs } from '../../harness/system/needs.ts';

const { describe } = needs('Linux', process.platform === 'linux');

describe('the executable', () => {
  it('has no thread that waits for SIGUSR1 to open a debugger', async () => {
    const underTest = await startRelay();
    const { pid } = underTest.process;
    const threads = readdirSync(`/proc/${pid}/task`).map((task) =>
      readFileSync(`/proc/${pid}/task/${task}/comm`, 'utf8').trim(),
    );
    process.kill(pid, 'SIGUSR1');
    expect((await underTest.get('/healthz')).status).to.equal(200);
    await underTest.stop();
    expect(threads).to.have.length.above(1).and.not.include('SignalInspector');
  });
});
