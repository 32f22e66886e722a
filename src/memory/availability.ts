import { setTimeout as sleep } from 'node:timers/promises';
import { type Command, createBacklog, wordsOf } from './backlog.ts';
import { probeName } from './kinds.ts';
import type { RedisClient } from './redis-client.ts';

/** Milliseconds after which a command has failed. */
const commandTime = 1_000;
/** Milliseconds that a refresh waits for a server that was just lost, or that the relay has not reached yet. */
const patience = 2_000;
/**
 * Milliseconds for all relays to write what they know to a server that is back. It is longer than the pauses before a
 * connection and a probe, each of which may be doubled.
 */
const settleTime = 500;
const probePause = 100;
/** Milliseconds between two attempts at a server that somebody has to configure first. */
const longPause = 5_000;

/**
 * Codes of errors that need an operator: a password, a right or a command is missing, or the server is a node of a
 * Cluster, with only some of the keys.
 */
const neverPasses = /^(NOAUTH|WRONGPASS|NOPERM|MOVED|ASK|CLUSTER|NOCOMMAND)$/;
export type CommandFailure = 'timeout' | 'refused' | 'full' | 'lost' | 'garbage';

/** Told what operators may know about the server. */
export interface ServerObserver {
  /** @param failure undefined if it was answered */
  command?(name: string, seconds: number, failure: CommandFailure | undefined): void;
  garbage?(): void;
  /** @param reason the code of the failure: an errno, or the server's own */
  away(reason: string): void;
  /**
   * The server answers, but cannot serve the relay as it is configured. This is no outage. @param reason the code of
   * the failure
   */
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
  let isThere = false;
  const reporter = createReporter(observer);
  let lostAt = performance.now();
  let lossCount = 0;
  let reason = 'unknown';

  /** Runs a command. @returns undefined after a failure; its code is in `reason` */
  async function ask(words: readonly string[]): Promise<Reply | undefined> {
    const answer = await runObserved(words, client, observer);
    if (typeof answer === 'object') return answer;
    // Another program wrote the key. That is no fault of the server.
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

  /** Probes the server, and tells it what this relay knows. @returns whether commands can be run now */
  async function tryAgain(): Promise<boolean> {
    const before = lossCount;
    const isBack = await probe().catch((error: unknown) => {
      reason = failureCodeOf(error);
      return false;
    });
    // After a timeout, the connection may be lost with what was sent, so do not wait for replies on it.
    if (!isBack && reason === 'timeout') await client.close();
    const told = new Set<string>();
    if (!isBack || !(await backlog.tell(told))) {
      reporter.failed(reason);
      return false;
    }
    // Wait for the other relays to write what they know.
    if (reporter.isReported()) await sleep(settleTime, undefined, { ref: false });
    if (lossCount !== before || isClosed) return false;
    // Send what this relay has learned meanwhile, in the same turn in which other commands become possible, and on the
    // same connection. Otherwise, the other relays would never learn of a logout in between.
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

  /** @returns whether the server answers, or does so again in time */
  async function waitUntilBack(): Promise<boolean> {
    const left = lostAt + patience - performance.now();
    if (isThere || left <= 0) return isThere;
    // During the start, nothing else may keep the process alive, so this timer must.
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
    /** Runs a command. @returns undefined if the server is lost, or does not answer in time */
    run,
    /**
     * As `run`, but if the server is lost, the command runs when it is back.
     *
     * @param name the key that the command writes. A later command on it replaces this one
     * @param left milliseconds after which the command has no purpose any more
     */
    async runOrOwe(name: string, command: Command, left: number): Promise<void> {
      await backlog.oweUnless(run(wordsOf(command)), name, command, left);
    },
    /** As `run`, but waits for a server that was just lost, and tries again if it is lost meanwhile. */
    async runPatiently(words: readonly string[]) {
      await waitUntilBack();
      const answer = await run(words);
      if (answer === undefined) await waitUntilBack();
      return answer ?? (await run(words));
    },
    /** Adds commands that run first whenever the server is back. */
    onReturn: backlog.add,
    waitUntilBack,
    isAway: () => !isThere,
    reportGarbage: () => observer.garbage?.(),
    async close(): Promise<void> {
      isClosed = true;
      await client.close();
    },
  };
}

/** Tells operators once about each outage, and once about each error that needs them. */
function createReporter(observer: ServerObserver) {
  /** Whether operators were told anything, so that a return is news. */
  let isReported = false;
  /** The present error that needs an operator. Successful probes do not end it, because they use another key. */
  let unusable: string | undefined;
  /**
   * Errors that operators were told of, and those that ended: a server that serves only some keys must not flood the
   * log.
   */
  const named = new Set<string>();
  const ended = new Set<string>();

  /** Called after a failed attempt to come back. */
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
    /** Called after a command of a request. */
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
async function runObserved(words: readonly string[], client: RedisClient, observer: ServerObserver) {
  const begun = performance.now();
  const answer = await runInTime(client.run(words));
  const seconds = (performance.now() - begun) / 1000;
  const failure = typeof answer === 'object' ? undefined : commandFailure(answer);
  observer.command?.(words[0] ?? '', seconds, failure);
  return answer;
}

async function runInTime(command: Promise<unknown>): Promise<Reply | string> {
  const { promise: late, resolve: giveUp } = Promise.withResolvers<'timeout'>();
  // If this process was late itself, the reply may have arrived already, so read it before giving up.
  const timer = setTimeout(() => setTimeout(giveUp, 5, 'timeout'), commandTime);
  const answer = command.then((reply): Reply => ({ reply }), failureCodeOf);
  return await Promise.race([answer, late]).finally(() => clearTimeout(timer));
}

/** Every command that the relay uses, on a key of its own. */
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

function commandFailure(code: string): CommandFailure {
  if (code === 'timeout' || code === 'lost') return code;
  if (code === 'OOM') return 'full';
  return /^E[A-Z]+$/.test(code) && code !== 'ERR' ? 'lost' : 'refused';
}

/** The code of an error: an errno, or the first word of the server's message. Anything else could contain a secret. */
export function failureCodeOf(error: unknown): string {
  if (!(error instanceof Error)) return 'lost';
  if (/^ERR unknown command/i.test(error.message)) return 'NOCOMMAND';
  const code = 'code' in error ? error.code : undefined;
  const [word] = error.message.split(' ');
  return [code, word].find((one) => /^([A-Z_]+|timeout)$/.test(`${one}`))?.toString() ?? 'lost';
}
