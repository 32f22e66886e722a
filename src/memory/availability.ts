import { setTimeout as sleep } from 'node:timers/promises';
import { type Command, createBacklog, wordsOf } from './backlog.ts';
import { probeName } from './kinds.ts';
import type { RedisClient } from './redis-client.ts';

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
/** Milliseconds between two attempts at a server that somebody has to configure first. */
const longPause = 5_000;

/**
 * Codes of errors that never pass by themselves: a password, a right or a command is missing, or the server is a node of a
 * Cluster and has only a part of the keys.
 */
const neverPasses = /^(NOAUTH|WRONGPASS|NOPERM|MOVED|ASK|CLUSTER|NOCOMMAND)$/;
export type CommandFailure = 'timeout' | 'refused' | 'full' | 'lost' | 'garbage';

/** What operators may know of the server. */
export interface ServerObserver {
  /** @param failure undefined: it was answered */
  command?(name: string, seconds: number, failure: CommandFailure | undefined): void;
  garbage?(): void;
  /** @param reason the code of the failure: an errno, or the server's own */
  away(reason: string): void;
  /** It is there, and will never serve the relay as it is: no outage. @param reason the code of the failure */
  unusable(reason: string): void;
  back(seconds: number): void;
}

export type WatchedServer = ReturnType<typeof watchServer>;

/**
 * Connects to the server of the shared memory, and says whether it is there. When it goes away (`lose`), it is probed
 * until it answers (`comeBack`). Before any other command, it then gets what this relay knows: it may have lost that.
 *
 * @param unusablePause milliseconds, up to twice as many, between attempts at a server that cannot be used as it is
 */
export function watchServer(client: RedisClient, observer: ServerObserver, unusablePause = longPause) {
  const backlog = createBacklog(async (words) => (await ask(words)) !== undefined);
  let back = Promise.withResolvers<void>();
  let isClosed = false;
  /** Whether commands may be run. */
  let isThere = false;
  const reporter = createReporter(observer);
  let lostAt = performance.now();
  /** How often the server may have lost something. */
  let lossCount = 0;
  /** Why the server is away: the code of the latest failure. */
  let reason = 'unknown';

  /** Runs a command. @returns undefined after a failure, whose code is the `reason` then */
  async function ask(words: readonly string[]): Promise<Reply | undefined> {
    const answer = await observed(words, client, observer);
    if (typeof answer === 'object') return answer;
    // Another program has written the key. The server is as good as before.
    if (answer === 'WRONGTYPE') return { reply: '' };
    reason = answer;
    return undefined;
  }

  function lose(): void {
    if (!isThere || isClosed) return;
    isThere = false;
    back = Promise.withResolvers();
    lostAt = performance.now();
    reporter.lost(reason);
    void comeBack(reporter.isUnusable());
  }

  async function probe(): Promise<boolean> {
    if (!client.isOpen()) await client.open();
    const answers = await Promise.all(probes.map(ask));
    return answers.every((answer) => answer !== undefined);
  }

  /** Probes the server. Once it has answered, and knows what this relay knows, it is there. @returns whether it is */
  async function tryAgain(): Promise<boolean> {
    const before = lossCount;
    const isBack = await probe().catch((error: unknown) => {
      reason = failureCodeOf(error);
      return false;
    });
    // What was sent may be lost, and the connection with it: wait for no reply.
    if (!isBack && reason === 'timeout') await client.close();
    const told = new Set<string>();
    if (!isBack || !(await backlog.tell(told))) {
      reporter.failed(reason);
      return false;
    }
    // The other relays write what they know, too.
    if (reporter.isReported()) await sleep(settleTime, undefined, { ref: false });
    if (lossCount !== before || isClosed) return false;
    // What this relay has learned since. It is sent in the same turn in which other commands may begin, and on the same
    // connection: otherwise, a logout in between would be told to no other relay.
    const isTold = backlog.tellAtOnce(told);
    isThere = true;
    reporter.found((performance.now() - lostAt) / 1000);
    back.resolve();
    void isTold.then((isWhole) => isWhole || lose());
    return true;
  }

  async function comeBack(pausesFirst = false): Promise<void> {
    const pause = () => (reporter.isUnusable() ? unusablePause : probePause) * (1 + Math.random());
    if (pausesFirst) await sleep(pause(), undefined, { ref: false });
    while (!isClosed && !(await tryAgain())) await sleep(pause(), undefined, { ref: false });
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
    else reporter.served();
    return answer;
  }

  client.onLoss((error) => {
    lossCount += 1;
    if (error instanceof Error) reason = failureCodeOf(error);
    lose();
  });
  void comeBack();
  setTimeout(() => isClosed || reporter.isReported() || reporter.lost(reason), patience).unref();

  return {
    /** Runs a command. @returns undefined if the server is away, or does not answer in time */
    run,
    /**
     * As `run`, but a server that is away runs the command when it is back.
     *
     * @param name the name that the command writes. A later command on it takes the place of this one
     * @param left milliseconds for which the command has a purpose
     */
    async runOrOwe(name: string, command: Command, left: number): Promise<void> {
      await backlog.oweUnless(run(wordsOf(command)), name, command, left);
    },
    /** As `run`, but waits for a server that has just gone away, and tries once more if it goes away meanwhile. */
    async runPatiently(words: readonly string[]) {
      await untilBack();
      const answer = await run(words);
      if (answer === undefined) await untilBack();
      return answer ?? (await run(words));
    },
    /** Adds commands that are run before all others when the server is there. */
    onReturn: backlog.add,
    untilBack,
    isAway: () => !isThere,
    reportGarbage: () => observer.garbage?.(),
    async close(): Promise<void> {
      isClosed = true;
      await client.close();
    },
  };
}

/** Tells operators of the server: once of each outage, and once of each error that does not pass. */
function createReporter(observer: ServerObserver) {
  /** Whether operators know of the server: it was there, or they were told why not. */
  let isReported = false;
  /** The error that never passes, which operators know. Probes that succeed do not end it: they use other keys. */
  let unusable: string | undefined;
  /** The errors that were named, and those that ended: a server that serves some keys must not fill the log. */
  const named = new Set<string>();
  const ended = new Set<string>();

  /** An attempt to come back failed. */
  function failed(reason: string): void {
    if (!neverPasses.test(reason) || unusable === reason) return;
    unusable = reason;
    isReported = true;
    if (!named.has(reason)) observer.unusable(reason);
    named.add(reason);
  }

  return {
    isReported: () => isReported,
    isUnusable: () => unusable !== undefined,
    failed,
    lost(reason: string): void {
      failed(reason);
      if (!neverPasses.test(reason) && unusable === undefined) observer.away(reason);
      isReported = true;
    },
    found(seconds: number): void {
      if (isReported && unusable === undefined) observer.back(seconds);
      isReported = true;
    },
    /** A command of a request succeeded. */
    served(): void {
      if (unusable === undefined) return;
      if (!ended.has(unusable)) observer.back(0);
      ended.add(unusable);
      unusable = undefined;
    },
  };
}

interface Reply {
  readonly reply: unknown;
}

/** Runs a command, and tells the observer how long it took. @returns the reply, or the code of the failure */
async function observed(words: readonly string[], client: RedisClient, observer: ServerObserver) {
  const begun = performance.now();
  const answer = await inTime(client.run(words));
  const seconds = (performance.now() - begun) / 1000;
  const failure = typeof answer === 'object' ? undefined : commandFailure(answer);
  observer.command?.(words[0] ?? '', seconds, failure);
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

/** Each command that the relay uses, on a key that nothing else uses. */
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

/** The failure that a code of an error means, for metrics. */
function commandFailure(code: string): CommandFailure {
  if (code === 'timeout' || code === 'lost') return code;
  if (code === 'OOM') return 'full';
  return /^E[A-Z]+$/.test(code) && code !== 'ERR' ? 'lost' : 'refused';
}

/** The code of an error: an errno, or the first word of the server's message. All else could be a secret. */
export function failureCodeOf(error: unknown): string {
  if (!(error instanceof Error)) return 'lost';
  if (/^ERR unknown command/i.test(error.message)) return 'NOCOMMAND';
  const code = 'code' in error ? error.code : undefined;
  const [word] = error.message.split(' ');
  return [code, word].find((one) => /^([A-Z_]+|timeout)$/.test(`${one}`))?.toString() ?? 'lost';
}
