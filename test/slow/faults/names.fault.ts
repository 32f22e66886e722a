import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { expect } from 'chai';
import { expectUser } from '../../harness/expect/expectations.ts';
import { expectService, secretFile, withRelay } from '../../harness/relay/relay-under-test.ts';
import { eventually } from '../../harness/system/eventually.ts';
import { fault } from '../../harness/system/fault.ts';
import { startedOnce } from '../../harness/system/started-once.ts';

describe('names that do not resolve', () => {
  const address = '127.0.0.153';
  const names = startedOnce(
    'a name server',
    () => startNameServer(address),
    async (server) => server.close(),
  );

  for (const { name, mood, statuses } of [
    { name: 'the name server fails', mood: 'fails', statuses: [502] },
    { name: 'the name server is silent', mood: 'is silent', statuses: [502, 504] },
  ] as const) {
    fault(`${name} for 20 s while 150 people ask`, `${statuses.join(' or ')} meanwhile, service after`, async () => {
      const server = names();
      const file = await secretFile(`nameserver ${address}\n`);
      const mount = `mount --bind "${file}" /etc/resolv.conf`;
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
          // Fewer than the lookups that a relay makes at once.
          const askers = Array.from({ length: 150 }, async () => {
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
    });
  }
});

/** Answers every name with 127.0.0.1, refuses, or does not answer. */
type Mood = 'answers' | 'fails' | 'is silent';

const serverFailure = 2;

/** A name server on an address of this machine, port 53. */
async function startNameServer(address: string) {
  const socket = createSocket('udp4');
  const server = { mood: 'answers' as Mood, close: () => socket.close() };
  socket.on('message', (query, { port, address: from }) => {
    if (server.mood !== 'is silent') socket.send(answer(query, server.mood), port, from);
  });
  socket.bind(53, address);
  await once(socket, 'listening');
  return server;
}

/** @see RFC 1035 §4.1 */
function answer(query: Buffer, mood: Mood): Buffer {
  const questionEnd = query.indexOf(0, 12) + 5;
  const isIPv4 = query.readUInt16BE(questionEnd - 4) === 1;
  const head = Buffer.alloc(12);
  query.copy(head, 0, 0, 2);
  head.writeUInt16BE(0x8180 | (mood === 'fails' ? serverFailure : 0), 2);
  head.writeUInt16BE(1, 4);
  const question = query.subarray(12, questionEnd);
  if (mood === 'fails' || !isIPv4) return Buffer.concat([head, question]);
  head.writeUInt16BE(1, 6);
  // A pointer to the question's name, type A, class IN, 0 s to live, four bytes.
  const record = Buffer.from([0xc0, 12, 0, 1, 0, 1, 0, 0, 0, 0, 0, 4, 127, 0, 0, 1]);
  return Buffer.concat([head, question, record]);
}
