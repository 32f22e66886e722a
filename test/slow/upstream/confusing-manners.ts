import type { Socket } from 'node:net';
import { hangUp, reset } from '../../harness/provider/provider-behaviours.ts';
import { type Behaviour, userRecord } from '../../harness/provider/strict-provider.ts';

/** Longer than the timeout of the relay. */
const tooLong = 1500;

/** A provider that answers everyone correctly, in every way that could confuse a client. */
export function confusingManners(issueToken: Behaviour) {
  const foreignBody = JSON.stringify({ login: 'somebody-else', access_token: 'of-somebody-else' });
  const foreignAnswer = withLength(foreignBody);
  let unasked = 0;
  let arrived = 0;
  const held: (() => void)[] = [];
  const honestly: Behaviour = (response, call) =>
    (call.endpoint === 'token' ? issueToken : userRecord)(response, call);

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
    ...[lateBody, lateBody, lateHead, lateHead, lateEnd, chunked, hintsFirst],
    ...[foreignAnswer, foreignAnswer.slice(0, 60), foreignBody].map(followedBy),
    ...[reset, hangUp, cut],
  ];
  const next: Behaviour = (...call) => {
    arrived += 1;
    const manner = arrived % 2500 === 0 ? tooLate : manners[arrived % manners.length];
    (manner ?? honestly)(...call);
  };
  return { next, speakUnasked, unasked: () => unasked };
}

/** The bytes of a whole response with this body. */
export function withLength(body: string): string {
  const head = `HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: ${body.length}`;
  return `${head}\r\n\r\n${body}`;
}
