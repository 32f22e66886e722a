import { gzipSync } from 'node:zlib';
import { expect } from 'chai';
import { canary } from '../../harness/expect/canaries.ts';
import { expectError, expectToken, expectUser } from '../../harness/expect/expectations.ts';
import {
  answer,
  dripHead,
  hangUp,
  rawBytes,
  stall,
  truncatedChunks,
} from '../../harness/provider/provider-behaviours.ts';
import type { Behaviour } from '../../harness/provider/strict-provider.ts';
import { expectService, relayUnderTest } from '../../harness/relay/relay-under-test.ts';
import { eventually } from '../../harness/system/eventually.ts';

const mebibyte = 1024 * 1024;
/** Valid JSON for both endpoints. */
const sound = JSON.stringify({ access_token: canary('token'), login: 'a' });

function encoded(body: string | Buffer, encoding: string): Behaviour {
  return answer(200, body, { 'Content-Type': 'application/json', 'Content-Encoding': encoding });
}

/** Valid JSON for both endpoints, with exactly this many bytes. */
function ofSize(bytes: number): Buffer {
  const head = '{"access_token":"t","padding":"';
  const tail = '"}';
  return Buffer.from(`${head}${'x'.repeat(bytes - head.length - tail.length)}${tail}`);
}

// Resets, silence, slow and short bodies, and the limit of 1 MiB are tested in test/upstream and test/contract.
describe('a provider that misbehaves', () => {
  describe('within the deadline, or never', () => {
    const underTest = relayUnderTest();
    const impatient = relayUnderTest({ 'provider-timeout': '0.5' });
    /** A busy machine has the time for the head of an answer, and a test need not wait for long. */
    const hasty = relayUnderTest({ 'provider-timeout': '2' });

    afterEach('the relay serves on', async () => {
      const { provider } = underTest();
      provider.forget();
      await expectService(underTest());
    });

    /** Makes the provider answer the calls of both endpoints so. */
    function misbehave(behaviour: Behaviour, { provider } = underTest()): void {
      provider.onToken = behaviour;
      provider.onUser = behaviour;
    }

    const unreachable: Record<string, Behaviour> = {
      'closes the connection': hangUp,
      'cuts a chunked body short': truncatedChunks(200, sound),
      'cuts a chunk short': rawBytes('HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nff\r\n{'),
      'sends no HTTP': rawBytes('SSH-2.0-OpenSSH_9.2\r\n'),
      'closes after half a head': rawBytes('HTTP/1.1 200 OK\r\nContent-Le'),
      'sends a header with a NUL': rawBytes('HTTP/1.1 200 OK\r\nX: \0\r\n\r\n{}'),
      'sends two lengths': rawBytes('HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\n{}'),
      'sends headers without end': (response) => {
        response.socket?.write(`HTTP/1.1 200 OK\r\n${'X: x\r\n'.repeat(100_000)}`);
      },
      'sends 64 MiB': answer(200, Buffer.alloc(64 * mebibyte, ' ')),
      'sends a body without end': (response) => {
        response.writeHead(200, { 'Content-Type': 'application/json' });
        const chunk = Buffer.alloc(64 * 1024, ' ');
        const write = () => {
          while (!response.destroyed && response.write(chunk));
        };
        response.on('drain', write);
        write();
      },
      'sends a gzip bomb in a gzip': encoded(gzipSync(gzipSync(ofSize(64 * mebibyte))), 'gzip, gzip'),
    };
    for (const [name, behaviour] of Object.entries(unreachable)) {
      it(`and ${name} leads to 502`, async () => {
        misbehave(behaviour);
        expectError(await underTest().logIn(), 502);
        expectError(await underTest().lookUp(), 502);
      });
    }

    const late: Record<string, Behaviour> = {
      'stops after the head': stall(200, ''),
      'stops in the body': stall(200),
      'drips the head': dripHead,
      'sends interim answers for ever': (response) => {
        const timer = setInterval(() => response.writeProcessing(), 20);
        response.on('close', () => clearInterval(timer));
      },
    };
    it(`and ${Object.keys(late).join(', or ')} leads to 504`, async () => {
      const { provider } = impatient();
      const behaviours = Object.values(late);
      const behave: Behaviour = (response, call) =>
        (behaviours[Number(call.credential)] ?? answer(500))(response, call);
      misbehave(behave, impatient());
      const requests = behaviours.flatMap((_, index) => [
        impatient().logIn(`${index}`),
        impatient().lookUp(`Bearer ${index}`),
      ]);
      for (const answered of await Promise.all(requests)) expectError(answered, 504);
      // A call may be too late even before it is sent.
      expect(provider.calls).to.have.lengthOf.at.most(requests.length);
      provider.forget();
      await eventually(async () => {
        expectToken(await impatient().logIn());
        expectUser(await impatient().lookUp());
      });
    });

    const garbled: Record<string, Behaviour> = {
      'claims gzip for a body without it': encoded(sound, 'gzip'),
      'cuts a gzip short': encoded(gzipSync(sound).subarray(0, -9), 'gzip'),
      'sends an unknown encoding': encoded(gzipSync(sound), 'secret-sauce'),
    };
    for (const [name, behaviour] of Object.entries(garbled)) {
      it(`and ${name}: no token, no record`, async () => {
        misbehave(behaviour);
        const login = await underTest().logIn();
        // The relay may treat it as an unusable token or as an unusable answer.
        expectError(login, login.status === 400 ? 400 : 502);
        expectError(await underTest().lookUp(), 502);
      });
    }

    it('and switches protocols fails at once because of this status', async () => {
      misbehave(rawBytes('HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: other\r\n\r\n'));
      expectError(await underTest().logIn(), 400);
      expectError(await underTest().lookUp(), 401);
    });

    it('and sends another status than 200 with any body fails because of the status', async () => {
      const bodies: Behaviour[] = [
        truncatedChunks(500, sound),
        answer(500, Buffer.alloc(2 * mebibyte, 'x')),
        answer(500, 'plain', { 'Content-Encoding': 'gzip' }),
        answer(500, ''),
      ];
      const cases = [...bodies.map((body) => [underTest(), body] as const), [hasty(), stall(500)] as const];
      for (const [relay, behaviour] of cases) {
        misbehave(behaviour, relay);
        const [login, lookUp] = await Promise.all([relay.logIn(), relay.lookUp()]);
        expectError(login, 400);
        expectError(lookUp, 401);
      }
    });
  });
});
