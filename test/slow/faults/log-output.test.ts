import { execFileSync } from 'node:child_process';
import { openSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { keepAliveAgent } from '../../harness/client/http-client.ts';
import { expectRedirect } from '../../harness/expect/expectations.ts';
import { expectService, loginPath, type RelayUnderTest, withRelay } from '../../harness/relay/relay-under-test.ts';
import { eventually } from '../../harness/system/eventually.ts';
import { fault } from '../../harness/system/fault.ts';
import { FullDisk } from '../../harness/system/full-disk.ts';
import { memoryOf } from '../../harness/system/processes.ts';

const lostLines = 'lines of the log were lost';

/** A command that runs another one with a different standard output. */
const redirected = (redirection: string) => ['sh', '-c', `exec "$0" "$@" ${redirection}`];

async function startLogins(underTest: RelayUnderTest, count: number): Promise<void> {
  const agent = keepAliveAgent(10);
  for (let left = count; left > 0; left -= 10) {
    const sent = Array.from({ length: 10 }, () => underTest.send({ path: loginPath, agent }));
    for (const answer of await Promise.all(sent)) expectRedirect(answer);
  }
  agent.destroy();
}

async function expectCleanEnd({ process: relay }: RelayUnderTest): Promise<void> {
  const { code, signal, stderr } = await relay.stop();
  expect({ code, signal, stderr }).to.deep.equal({ code: 0, signal: null, stderr: '' });
}

describe('a log that cannot be written', () => {
  let directory = '';
  beforeEach(async () => {
    directory = await mkdtemp(join(tmpdir(), 'login-relay-'));
  });
  afterEach(async () => await rm(directory, { recursive: true }));

  /** Runs the task with a relay that writes to a pipe, and the unread end of the pipe. */
  async function withPipe(task: (underTest: RelayUnderTest, reader: Socket) => Promise<void>): Promise<void> {
    const pipe = join(directory, 'log');
    execFileSync('mkfifo', [pipe]);
    // Opened for reading and writing, so that neither side waits for the other.
    const reader = new Socket({ fd: openSync(pipe, 'r+'), readable: true, writable: false });
    try {
      const launcher = redirected(`>"${pipe}"`);
      await withRelay({ launcher }, async (underTest) => await task(underTest, reader));
    } finally {
      reader.destroy();
    }
  }

  for (const [name, redirection] of [
    ['the device of the log is full', '>/dev/full'],
    ['standard output is closed', '>&-'],
  ] as const) {
    fault(name, 'the relay serves on and ends well', async () => {
      await withRelay({ launcher: redirected(redirection) }, async (underTest) => {
        await expectService(underTest);
        await startLogins(underTest, 100);
        await expectCleanEnd(underTest);
      });
    });
  }

  fault('the reader of the log goes away', 'the relay serves on and ends well', async () => {
    await withPipe(async (underTest, reader) => {
      await expectService(underTest);
      reader.destroy();
      await startLogins(underTest, 100);
      await expectService(underTest);
      await expectCleanEnd(underTest);
    });
  });

  fault(
    'nobody reads the pipe of the log',
    'the relay serves on, does not grow, and tells how many lines were lost once it is read',
    async () => {
      await withPipe(async (underTest, reader) => {
        await startLogins(underTest, 7000);
        const before = memoryOf(underTest.process.pid);
        await startLogins(underTest, 1000);
        const growth = memoryOf(underTest.process.pid) - before;
        await expectService(underTest);
        expect(growth).to.be.lessThan(30);

        let log = '';
        reader.setEncoding('utf8').on('data', (text: string) => {
          log += text;
        });
        await eventually(async () => {
          await underTest.get(loginPath);
          expect(log).to.contain(lostLines);
        });
        for (const line of log.split('\n').slice(0, -1)) JSON.parse(line);
        expect(log).to.match(/"lost":[1-9]/);
        await expectCleanEnd(underTest);
      });
    },
  );

  fault('nobody reads the pipe of the log when the relay is told to end', 'it ends well', async () => {
    await withPipe(async (underTest) => {
      await startLogins(underTest, 1000);
      await expectCleanEnd(underTest);
    });
  });

  fault(
    'the disk of the log is full for a while',
    'the relay serves on, and logs whole lines again after that',
    async () => {
      const disk = new FullDisk(join(directory, 'log'));
      await withRelay({ launcher: disk.launcher }, async (underTest) => {
        await startLogins(underTest, 200);
        await expectService(underTest);
        disk.makeRoom(underTest);
        await eventually(async () => {
          await underTest.get(loginPath);
          expect(disk.lines().join('\n')).to.contain(lostLines);
        });
        await expectCleanEnd(underTest);
      });
      const lines = disk.lines();
      const torn = lines.filter((line) => !line.endsWith('}'));
      expect(torn.length).to.be.at.most(1);
      for (const line of lines) if (line !== torn[0]) JSON.parse(line);
    },
    ['prlimit'],
  );
});
