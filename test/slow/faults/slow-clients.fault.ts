import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';
import { expect } from 'chai';
import { servedDuring } from '../../harness/client/honest-client.ts';
import { expectService, loginPath, userPath, withRelay } from '../../harness/relay/relay-under-test.ts';
import { eventually } from '../../harness/system/eventually.ts';
import { fault } from '../../harness/system/fault.ts';

const seconds = 20;

async function attack(...options: string[]): Promise<void> {
  const child = spawn('slowhttptest', [...options, '-l', `${seconds}`], { stdio: 'ignore' });
  await once(child, 'exit');
}

describe('clients that are slow on purpose', () => {
  for (const { name, options } of [
    {
      name: '1,000 clients that send their headers slowly',
      options: ['-H', '-i', '2', '-x', '24'],
    },
    { name: '1,000 clients that send a body slowly', options: ['-B', '-i', '2', '-s', '8192'] },
    {
      name: '1,000 clients that read slowly',
      options: ['-X', '-w', '1', '-y', '8', '-n', '2', '-z', '2', '-k', '5'],
    },
  ]) {
    fault(`${name}, for ${seconds} s`, 'everyone else is served throughout', async () => {
      await withRelay({}, async (underTest) => {
        const url = `http://127.0.0.1:${underTest.port}${loginPath}`;
        const slow = attack(...options, '-c', '1000', '-r', '500', '-u', url);
        await servedDuring(underTest, slow);
        await expectService(underTest);
        expect((await underTest.process.stop()).code).to.equal(0);
      });
    });
  }

  const idle = 10_000;
  fault(
    '10,000 connections that never say a word',
    'everyone else is served throughout, and the relay closes them',
    async () => {
      await withRelay({}, async (underTest) => {
        const sockets: Socket[] = [];
        let closed = 0;
        for (let left = idle; left > 0; left -= 100) {
          const some = Array.from({ length: 100 }, () => connect(underTest.port, '127.0.0.1'));
          for (const socket of some) {
            socket.on('error', () => {});
            socket.on('close', () => {
              closed += 1;
            });
            // The end of the connection is only seen if the relay's bytes are read.
            socket.resume();
          }
          await Promise.all(some.map((socket) => once(socket, 'connect')));
          sockets.push(...some);
        }
        await servedDuring(underTest, wait(5000));
        await eventually(async () => expect(closed).to.equal(idle));
        await expectService(underTest);
        for (const socket of sockets) socket.destroy();
        expect((await underTest.process.stop()).code).to.equal(0);
      });
    },
  );

  fault('5,000 connections that are kept after a request', 'everyone else is served throughout', async () => {
    await withRelay({}, async (underTest) => {
      const sockets = await Promise.all(
        Array.from({ length: 5000 }, async () => {
          const socket = connect(underTest.port, '127.0.0.1');
          socket.on('error', () => {});
          socket.write(`GET ${userPath} HTTP/1.1\r\nHost: relay\r\n\r\n`);
          await once(socket, 'data');
          return socket;
        }),
      );
      await servedDuring(underTest, wait(5000));
      await expectService(underTest);
      for (const socket of sockets) socket.destroy();
      expect((await underTest.process.stop()).code).to.equal(0);
    });
  });
});
