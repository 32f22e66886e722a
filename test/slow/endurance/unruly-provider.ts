import { type Answer, honestly, type Provider, startProvider, written } from './provider.ts';

/** A provider that answers everyone correctly, in every way that could confuse a client. */
export interface UnrulyProvider extends Provider {
  /** Sends an unsolicited answer on every open connection. */
  speakUnasked(): void;
  /** The number of unsolicited answers. */
  unasked(): number;
}

const foreignBody = JSON.stringify({ login: 'somebody-else', access_token: 'of-somebody-else' });
const foreignAnswer = written(foreignBody);
/** Longer than the timeout of the relay. */
const tooLong = 1500;

export async function startUnrulyProvider(): Promise<UnrulyProvider> {
  let unasked = 0;
  let arrived = 0;
  const held: (() => void)[] = [];

  /** The answers of several calls are sent in reverse order. */
  const inReverse: Answer = (...call) => {
    held.push(() => honestly(...call));
    if (held.length >= 8) release();
    else setTimeout(release, 5);
  };
  const release = () => {
    for (const answer of held.splice(0).toReversed()) answer();
  };
  const followedBy =
    (more: string): Answer =>
    (connection, body) => {
      unasked += 1;
      connection.write(written(body) + more);
    };
  const inTwo =
    (at: (whole: string) => number, later: (task: () => void) => void): Answer =>
    (connection, body) => {
      const whole = written(body);
      connection.write(whole.slice(0, at(whole)));
      later(() => connection.write(whole.slice(at(whole))));
    };
  const soon = (task: () => void) => setImmediate(task);
  const lateBody = inTwo(
    (whole) => whole.indexOf('\r\n\r\n') + 4,
    (task) => setTimeout(task, 3),
  );
  const lateHead = inTwo(() => 30, soon);
  const lateEnd = inTwo((whole) => whole.length - 1, soon);
  const chunked: Answer = (connection, body) => {
    const chunks = [...body].map((character) => `1\r\n${character}\r\n`).join('');
    connection.write(`HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n${chunks}0\r\n\r\n`);
  };
  const hintsFirst: Answer = (connection, body) => {
    connection.write(`HTTP/1.1 103 Early Hints\r\nLink: </a.css>\r\n\r\n${written(body)}`);
  };
  const reset: Answer = (connection) => connection.resetAndDestroy();
  const hangUp: Answer = (connection) => connection.destroy();
  const truncated: Answer = (connection, body) => connection.end(written(body).slice(0, -3));
  const tooLate: Answer = (...call) => setTimeout(() => honestly(...call), tooLong);

  const manners: readonly Answer[] = [
    ...Array<Answer>(20).fill(honestly),
    ...Array<Answer>(8).fill(inReverse),
    ...[lateBody, lateBody, lateHead, lateHead, lateEnd, chunked, hintsFirst],
    ...[foreignAnswer, foreignAnswer.slice(0, 60), foreignBody].map(followedBy),
    ...[reset, hangUp, truncated],
  ];
  const provider = await startProvider((...call) => {
    arrived += 1;
    const manner = arrived % 2500 === 0 ? tooLate : manners[arrived % manners.length];
    (manner ?? honestly)(...call);
  });
  return {
    ...provider,
    speakUnasked() {
      for (const connection of provider.connections) {
        unasked += 1;
        connection.write(foreignAnswer);
      }
    },
    unasked: () => unasked,
  };
}
