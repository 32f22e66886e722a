import { setTimeout as sleep } from 'node:timers/promises';
import type { Connection } from './connection.ts';

/** Milliseconds after which a command has failed. */
const commandTime = 1_000;
/** Milliseconds that a refresh waits for a server that has just gone away, or that the relay has not found yet. */
const patience = 2_000;
/**
 * Milliseconds that relays have, after a server is back, to write what they know: longer than the pauses before a
 * connection and a probe, each of which may be doubled.
 */
const settleTime = 500;
const probePause = 100;
const probeName = 'login-relay:1:probe';

export type LinkFailure = 'timeout' | 'refused' | 'full' | 'lost' | 'garbage';

/** What operators may know of the server. */
export interface LinkObserver {
  /** @param failure undefined: it was answered */
  command?(name: string, seconds: number, failure: LinkFailure | undefined): void;
  garbage?(): void;
  /** @param reason the code of the failure: an errno, or the server's own */
  away(reason: string): void;
  back(seconds: number): void;
}

export type ServerLink = ReturnType<typeof createLink>;

/**
 * Connects, and goes on trying for as long as the relay runs. The server is there or away. When it goes away (`lose`), it
 * is probed until it answers (`comeBack`). Then it gets what this relay knows, before anybody uses it.
 */
export function createLink(connection: Connection, observer: LinkObserver) {
  const commandsOnReturn: (() => string[][])[] = [];
  let back = Promise.withResolvers<void>();
  let isOver = false;
  /** Whether commands may be run. */
  let isThere = false;
  /** Whether operators know of the server: it was there, or was reported as away. */
  let isReported = false;
  let lostAt = performance.now();
  /** How often something may have been lost. */
  let losses = 0;
  let reason = 'unknown';

  /** @returns undefined after a failure, which is the `reason` then */
  async function ask(words: readonly string[]): Promise<Reply | undefined> {
    const answer = await observed(words, connection, observer);
    if (typeof answer === 'object') return answer;
    // Somebody else has written it. The server is as good as before.
    if (answer === 'WRONGTYPE') return { reply: '' };
    reason = answer;
    return undefined;
  }

  function lose(): void {
    if (!isThere || isOver) return;
    isThere = false;
    back = Promise.withResolvers();
    lostAt = performance.now();
    observer.away(reason);
    void comeBack();
  }

  async function probe(): Promise<boolean> {
    if (!connection.isOpen()) await connection.open();
    const answers = await Promise.all(probes.map(ask));
    return answers.every((answer) => answer !== undefined);
  }

  /** @returns whether the server is there, and knows what this relay knows */
  async function tryAgain(): Promise<boolean> {
    const before = losses;
    const isBack = await probe().catch((error: unknown) => {
      reason = failureCodeOf(error);
      return false;
    });
    if (!isBack) {
      // What was sent may be lost, and the connection with it: wait for no reply.
      if (reason === 'timeout') await connection.close();
      await sleep(probePause * (1 + Math.random()), undefined, { ref: false });
      return false;
    }
    await Promise.all(commandsOnReturn.flatMap((commands) => commands()).map(ask));
    // The other relays write what they know, too.
    if (isReported) await sleep(settleTime, undefined, { ref: false });
    return losses === before;
  }

  async function comeBack(): Promise<void> {
    while (!isOver && !(await tryAgain()));
    if (isOver) return;
    if (isReported) observer.back((performance.now() - lostAt) / 1000);
    isReported = true;
    isThere = true;
    back.resolve();
  }

  /** @returns whether the server is there, or comes back in time */
  async function untilBack(): Promise<boolean> {
    const left = lostAt + patience - performance.now();
    if (isThere || left <= 0) return isThere;
    // At the start, nothing else may keep the process alive.
    await Promise.race([back.promise, sleep(left)]);
    return isThere;
  }

  async function run(words: readonly string[]) {
    if (!isThere) return undefined;
    const answer = await ask(words);
    if (answer === undefined) lose();
    return answer;
  }

  connection.onLoss((error) => {
    losses += 1;
    if (error instanceof Error) reason = failureCodeOf(error);
    lose();
  });
  void comeBack();
  setTimeout(() => {
    if (isReported || isOver) return;
    isReported = true;
    observer.away(reason);
  }, patience).unref();

  return {
    /** Runs a command. @returns undefined if the server is away, or does not answer in time */
    run,
    /** The same, but waits for a server that has just gone away. */
    async runPatiently(words: readonly string[]) {
      await untilBack();
      const answer = await run(words);
      if (answer === undefined) await untilBack();
      return answer ?? (await run(words));
    },
    /** Adds commands that are run before all others when the server is there. */
    onReturn(commands: () => string[][]): void {
      commandsOnReturn.push(commands);
    },
    untilBack,
    isAway: () => !isThere,
    reportGarbage: () => observer.garbage?.(),
    async close(): Promise<void> {
      isOver = true;
      await connection.close();
    },
  };
}

interface Reply {
  readonly reply: unknown;
}

/** Runs a command, and says how long it took. @returns the reply, or the code of the failure */
async function observed(words: readonly string[], { run }: Connection, { command }: LinkObserver) {
  const begun = performance.now();
  const answer = await inTime(run(words));
  const seconds = (performance.now() - begun) / 1000;
  command?.(words[0] ?? '', seconds, typeof answer === 'object' ? undefined : failureOf(answer));
  return answer;
}

/** The reply to a command, or the code of its failure. */
async function inTime(command: Promise<unknown>): Promise<Reply | string> {
  const { promise: late, resolve: giveUp } = Promise.withResolvers<'timeout'>();
  // This process may be late itself, and the reply may be here already: read it first.
  const timer = setTimeout(() => setTimeout(giveUp, 5, 'timeout'), commandTime);
  const answer = command.then((reply): Reply => ({ reply }), failureCodeOf);
  return await Promise.race([answer, late]).finally(() => clearTimeout(timer));
}

/** Each command that the relay uses, on a key of its own. */
export const probes: readonly (readonly string[])[] = [
  ['SET', probeName, '1', 'NX', 'GET', 'PX', '10000'],
  [
    'EVAL',
    "redis.call('GET',KEYS[1]) redis.call('SET',KEYS[1],'1') redis.call('INCRBY',KEYS[1],'1') redis.call('PEXPIRE',KEYS[1],'10000') return redis.call('PTTL',KEYS[1])",
    '1',
    probeName,
  ],
  ['GET', probeName],
  ['PTTL', probeName],
  ['DEL', probeName],
];

function failureOf(code: string): LinkFailure {
  if (code === 'timeout' || code === 'lost') return code;
  if (code === 'OOM') return 'full';
  return /^E[A-Z]+$/.test(code) && code !== 'ERR' ? 'lost' : 'refused';
}

/** The code of an error, which is never a secret: an errno, or the first word of the server's error. */
export function failureCodeOf(error: unknown): string {
  if (!(error instanceof Error)) return 'lost';
  const code = 'code' in error ? error.code : undefined;
  const [word] = error.message.split(' ');
  return [code, word].find((one) => /^([A-Z_]+|timeout)$/.test(`${one}`))?.toString() ?? 'lost';
}
