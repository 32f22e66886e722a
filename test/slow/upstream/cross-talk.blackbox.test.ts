// Many people at once, over connections that the provider keeps, breaks and abuses: everybody who gets an
// answer gets their own. `scripts/long cross-talk` compares a million answers.
import type { Socket } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';
import { expect } from 'chai';
import { keepAliveAgent } from '../../harness/client/http-client.ts';
import { manyAtOnce } from '../../harness/client/many-at-once.ts';
import { request } from '../../harness/client/request.ts';
import { canary } from '../../harness/expect/canaries.ts';
import { expectUser } from '../../harness/expect/expectations.ts';
import { hangUp, reset } from '../../harness/provider/provider-behaviours.ts';
import { type Behaviour, userRecord } from '../../harness/provider/strict-provider.ts';
import { callbackPath, frontendOrigin, relayUnderTest, userPath } from '../../harness/relay/relay-under-test.ts';

const wanted = Number(process.env['REPLIES'] ?? 4000);
const people = 500;
const connections = 100;
/** Statuses after a broken or late answer of the provider, or a pause of the machine. */
const refusals = new Set([502, 504, 408]);
/** In milliseconds: longer than the timeout of the relay. */
const tooLong = 1500;

describe('many people at once, at a provider that confuses its clients', () => {
  const underTest = relayUnderTest({ 'provider-timeout': '1' });

  it('get their own answers only', async function () {
    this.timeout(300_000 + wanted);
    const { port, provider, process: relay } = underTest();
    relay.passOn();
    const manners = confusingManners(provider.issueToken);
    provider.onToken = manners.next;
    provider.onUser = manners.next;
    const agent = keepAliveAgent(connections);
    const counts = { replies: 0, refused: 0, left: 0, brokenOff: 0, rounds: 0 };
    const mismatches: string[] = [];

    async function visit(index: number): Promise<void> {
      // Sometimes a client closes the connection during the call to the provider.
      const leaves = index % 50 === 49;
      const signal = leaves ? { signal: AbortSignal.timeout(index % 5) } : {};
      const how = { agent, repeatable: true, ...signal };
      try {
        await (index % 5 === 4 ? logIn(`c${counts.rounds}.${index}`, how) : lookUp(index, how));
      } catch {
        counts[leaves ? 'left' : 'brokenOff'] += 1;
      }
    }

    async function lookUp(index: number, how: object): Promise<void> {
      const token = `p${index % people}`;
      const headers: [string, string][] = [['Authorization', `Bearer ${token}`]];
      const { status, body } = await request(port, { path: userPath, headers, ...how });
      judge(status, 200, status === 200 && JSON.parse(`${body}`).login, `owner-of-${token}`);
    }

    async function logIn(code: string, how: object): Promise<void> {
      const answer = await request(port, { path: `${callbackPath}?code=${code}`, ...how });
      const target = `${frontendOrigin}/?access_token=${provider.tokenFor(code)}`;
      judge(answer.status, 307, answer.headers.location, target);
    }

    function judge(status: number, success: number, said: unknown, own: string): void {
      if (refusals.has(status)) {
        counts.refused += 1;
        return;
      }
      counts.replies += 1;
      if (status !== success || said !== own) {
        mismatches.push(`${status} ${said} instead of ${own}`);
      }
    }

    while (counts.replies < wanted && mismatches.length === 0) {
      counts.rounds += 1;
      await manyAtOnce(Math.min(10_000, wanted / 4), connections, visit);
      provider.calls.length = 0;
      // Nothing is in flight: whatever the provider says now is an answer to nobody. The next round
      // begins at once, or when the relay has had time to read it.
      for (const socket of provider.openSockets) manners.speakUnasked(socket);
      if (counts.rounds % 2 === 0) await wait(2);
    }
    agent.destroy();
    if (process.env['REPLIES']) {
      const unasked = `${manners.unasked()} answers unasked`;
      const all = { ...counts, connections: provider.connections, unasked };
      process.stdout.write(`    ${JSON.stringify(all)}\n`);
    }
    expect(mismatches).to.deep.equal([]);
    expect(manners.unasked()).to.be.at.least(100);
    expect(counts.refused).to.be.at.least(10);
  });

  it('never get an answer that was sent before their request', async () => {
    const { provider, process: relay } = underTest();
    const unasked = withLength('{"login":"forged"}');
    const agent = keepAliveAgent(1);
    const lookUp = (token: string) =>
      underTest().send({ path: userPath, headers: [['Authorization', `Bearer ${token}`]], agent });
    await lookUp(canary('token'));
    for (let time = 0; time < 5; time += 1) {
      expect(provider.openSockets).not.to.deep.equal([]);
      // The relay finds both at once when it continues, the request first.
      process.kill(relay.pid, 'SIGSTOP');
      const token = canary('token');
      const answered = lookUp(token);
      await new Promise((resolve) => setImmediate(resolve));
      await Promise.all(provider.openSockets.map((socket) => new Promise((resolve) => socket.write(unasked, resolve))));
      process.kill(relay.pid, 'SIGCONT');
      expect(expectUser(await answered)).to.include({ login: `owner-of-${token}` });
    }
    agent.destroy();
  });
});

/** A provider that answers everyone correctly, in every way that could confuse a client. */
function confusingManners(issueToken: Behaviour) {
  const foreignBody = JSON.stringify({ login: 'somebody-else', access_token: 'of-somebody-else' });
  const foreignAnswer = withLength(foreignBody);
  let unasked = 0;
  let arrived = 0;
  const held: (() => void)[] = [];
  const honestly: Behaviour = (response, call) => (call.endpoint === 'token' ? issueToken : userRecord)(response, call);

  /** The answers of several calls are sent in reverse order. */
  const inReverse: Behaviour = (...call) => {
    held.push(() => honestly(...call));
    if (held.length >= 8) release();
    else setTimeout(release, 5);
  };
  const release = () => {
    for (const answer of held.splice(0).toReversed()) answer();
  };
  const speakUnasked = (socket: Socket): void => {
    unasked += 1;
    socket.write(foreignAnswer);
  };
  /** Writes the body of the honest answer in a manner of its own. */
  const written =
    (manner: (body: string, socket: Socket) => void): Behaviour =>
    (response, call) => {
      const { socket } = response;
      if (socket === null) return;
      const { write } = socket;
      let whole = '';
      socket.write = (part: string | Uint8Array, ...[encoding, callback]: unknown[]) => {
        whole += part;
        const done = callback ?? encoding;
        if (typeof done === 'function') process.nextTick(() => done());
        return true;
      };
      honestly(response, call);
      socket.write = write;
      manner(/{.*}/.exec(whole)?.[0] ?? '', socket);
    };
  const inTwo = (at: (whole: string) => number, later: (task: () => void) => void) =>
    written((body, socket) => {
      const whole = withLength(body);
      socket.write(whole.slice(0, at(whole)));
      later(() => socket.write(whole.slice(at(whole))));
    });
  const soon = (task: () => void) => void setImmediate(task);
  const lateBody = inTwo(
    (whole) => whole.indexOf('\r\n\r\n') + 4,
    (task) => setTimeout(task, 3),
  );
  const lateHead = inTwo(() => 30, soon);
  const lateEnd = inTwo((whole) => whole.length - 1, soon);
  const followedBy = (more: string) =>
    written((body, socket) => {
      unasked += 1;
      socket.write(withLength(body) + more);
    });
  const chunked = written((body, socket) => {
    const chunks = [...body].map((character) => `1\r\n${character}\r\n`).join('');
    socket.write(`HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n${chunks}0\r\n\r\n`);
  });
  const hintsFirst = written((body, socket) => {
    socket.write(`HTTP/1.1 103 Early Hints\r\nLink: </a.css>\r\n\r\n${withLength(body)}`);
  });
  const cut = written((body, socket) => socket.end(withLength(body).slice(0, -3)));
  const tooLate: Behaviour = (...call) => setTimeout(() => honestly(...call), tooLong);

  const manners: readonly Behaviour[] = [
    ...Array<Behaviour>(20).fill(honestly),
    ...Array<Behaviour>(8).fill(inReverse),
    lateBody,
    lateBody,
    lateHead,
    lateHead,
    lateEnd,
    chunked,
    hintsFirst,
    ...[foreignAnswer, foreignAnswer.slice(0, 60), foreignBody].map(followedBy),
    reset,
    hangUp,
    cut,
  ];
  const next: Behaviour = (...call) => {
    arrived += 1;
    const manner = arrived % 2500 === 0 ? tooLate : manners[arrived % manners.length];
    (manner ?? honestly)(...call);
  };
  return { next, speakUnasked, unasked: () => unasked };
}

/** The bytes of a whole response with this body. */
function withLength(body: string): string {
  const head = `HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: ${body.length}`;
  return `${head}\r\n\r\n${body}`;
}
