import { mkdirSync, rmdirSync, writeFileSync } from 'node:fs';
import { expect } from 'chai';
import { keepAliveAgent } from '../../harness/client/http-client.ts';
import { expectUser } from '../../harness/expect/expectations.ts';
import { answer } from '../../harness/provider/provider-behaviours.ts';
import { expectService, type RelayUnderTest, userPath, withRelay } from '../../harness/relay/relay-under-test.ts';
import { fault } from '../../harness/system/fault.ts';

const mebibyte = 1024 * 1024;

/** Runs the task with a relay in a control group that limits its memory. */
async function withMemory(mebibytes: number, task: (underTest: RelayUnderTest) => Promise<void>): Promise<void> {
  const group = `/sys/fs/cgroup/memory/login-relay-${process.pid}`;
  mkdirSync(group);
  try {
    writeFileSync(`${group}/memory.limit_in_bytes`, `${mebibytes * mebibyte}`);
    const launcher = ['sh', '-c', `echo $$ >"${group}/tasks" && exec "$0" "$@"`];
    await withRelay({ launcher, flags: { 'provider-timeout': '60' } }, task);
  } finally {
    rmdirSync(group);
  }
}

/** As many lookups at once as a relay makes, so many times, each for the largest possible record. */
async function lookUpLargeRecords(underTest: RelayUnderTest, times: number): Promise<number[]> {
  const padding = 'x'.repeat(mebibyte - 100);
  underTest.provider.onUser = answer(200, `{"login":"ada","padding":"${padding}"}`);
  const agent = keepAliveAgent(192);
  const statuses: number[] = [];
  for (let time = 0; time < times; time += 1) {
    const sent = Array.from({ length: 192 }, async () => {
      const headers: [string, string][] = [['Authorization', 'Bearer a']];
      const answered = await underTest.send({ path: userPath, headers, agent }).catch(() => undefined);
      statuses.push(answered?.status ?? 0);
    });
    await Promise.all(sent);
  }
  agent.destroy();
  return statuses;
}

describe('memory that is short', () => {
  fault('768 records of 1 MiB, 192 at once, where 1 GiB of memory is allowed', 'each is passed on', async () => {
    await withMemory(1024, async (underTest) => {
      const statuses = await lookUpLargeRecords(underTest, 4);
      expect(new Set(statuses)).to.deep.equal(new Set([200]));
      underTest.provider.forget();
      await expectService(underTest);
    });
  });

  fault('memory runs out', 'the process ends at once, and the one that its supervisor starts serves', async () => {
    await withMemory(80, async (underTest) => {
      const lookups = lookUpLargeRecords(underTest, 20);
      await underTest.process.ended;
      await lookups;
    });
    await withRelay({}, async (underTest) => expectUser(await underTest.lookUp()));
  });
});
