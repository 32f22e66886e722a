import { setTimeout as sleep } from 'node:timers/promises';
import { type Command, createBacklog, writeCommand } from './backlog.ts';
import { createOutageReporter, type ServerObserver } from './outage-reporter.ts';
import type { RedisClient } from './redis-client.ts';
import { createCommandRunner, type Reply } from './redis-commands.ts';

/** Milliseconds that a refresh waits for a server that was just lost, or that the relay has not reached yet. */
const longestWait = 2_000;
/**
 * Milliseconds for all relays to write what they know to a server that is back. It is longer than the pauses before a
 * connection and a probe, each of which may be doubled.
 */
const settlingTime = 500;
const probePause = 100;
/** Milliseconds between two attempts at a server that somebody has to configure first. */
const longPause = 5_000;

export type WatchedServer = ReturnType<typeof watchRedis>;

/**
 * Connects to the server of the shared memory, and runs commands while the server is there. When the server is lost
 * (`onLost`), it is probed until it answers again (`retryUntilBack`). Before any other command, the server then gets
 * the backlog, because it may have lost what this relay knows.
 *
 * @param unusablePause milliseconds, up to twice as many, between attempts at a server that cannot be used as it is
 */
export function watchRedis(client: RedisClient, observer: ServerObserver, unusablePause = longPause) {
  const commands = createCommandRunner(client, observer);
  const backlog = createBacklog(async (words) => (await commands.run(words)) !== undefined);
  const reporter = createOutageReporter(observer);
  let back = Promise.withResolvers<void>();
  let isClosed = false;
  let isThere = false;
  let lostAt = performance.now();
  let lossCount = 0;

  /** Notes that the server is lost, and begins to probe it. Does nothing if it was lost already. */
  function onLost(): void {
    if (!isThere || isClosed) return;
    isThere = false;
    back = Promise.withResolvers();
    lostAt = performance.now();
    reporter.lost(commands.lastFailure());
    void retryUntilBack(reporter.isUnusable());
  }

  /** Probes the server, and sends it the backlog. @returns whether commands can be run now */
  async function tryToReturn(): Promise<boolean> {
    const lossesBefore = lossCount;
    const isAnswering = await commands.probe();
    // After a timeout, the connection may be lost with what was sent, so do not wait for replies on it.
    if (!isAnswering && commands.lastFailure() === 'timeout') await client.close();
    const sent = new Set<string>();
    if (!isAnswering || !(await backlog.send(sent))) {
      reporter.failed(commands.lastFailure());
      return false;
    }
    // Wait for the other relays to write what they know. When this relay starts, the server has lost nothing.
    if (reporter.isPastStart()) await sleep(settlingTime, undefined, { ref: false });
    if (lossCount !== lossesBefore || isClosed) return false;
    // Send what this relay has learned meanwhile, in the same turn in which other commands become possible, and on the
    // same connection. Otherwise, the other relays would never learn of a logout in between.
    const restIsSent = backlog.sendAtOnce(sent);
    isThere = true;
    reporter.found((performance.now() - lostAt) / 1000);
    back.resolve();
    void restIsSent.then((isWhole) => isWhole || onLost());
    return true;
  }

  /** Tries to return to the server again and again. @param pausesFirst whether to pause before the first attempt */
  async function retryUntilBack(pausesFirst = false): Promise<void> {
    const pause = async () => {
      const shortest = reporter.isUnusable() ? unusablePause : probePause;
      await sleep(shortest * (1 + Math.random()), undefined, { ref: false });
    };
    if (pausesFirst) await pause();
    while (!isClosed && !(await tryToReturn())) await pause();
  }

  /** Waits for a server that was just lost. @returns whether the server is there now */
  async function waitUntilBack(): Promise<boolean> {
    const left = lostAt + longestWait - performance.now();
    if (isThere || left <= 0) return isThere;
    // During the start, nothing else may keep the process alive, so this timer must.
    await Promise.race([back.promise, sleep(left)]);
    return isThere;
  }

  /** Runs a command. @returns undefined if the server is lost, or does not answer in time */
  async function run(words: readonly string[]): Promise<Reply | undefined> {
    if (!isThere) return undefined;
    const reply = await commands.run(words);
    if (reply === undefined) onLost();
    else reporter.served();
    return reply;
  }

  client.onLoss((error) => {
    lossCount += 1;
    if (error instanceof Error) commands.recordFailure(error);
    onLost();
  });
  void retryUntilBack();
  /** Reports an outage that began before this relay did. No connection was lost then, so `onLost` has not reported it. */
  const reportIfNeverReached = () => {
    if (!isClosed && !reporter.isPastStart()) reporter.lost(commands.lastFailure());
  };
  setTimeout(reportIfNeverReached, longestWait).unref();

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
      await backlog.oweUnless(run(writeCommand(command)), name, command, left);
    },
    /** As `run`, but waits for a server that was just lost, and tries again if it is lost meanwhile. */
    async runPatiently(words: readonly string[]): Promise<Reply | undefined> {
      await waitUntilBack();
      const reply = await run(words);
      if (reply !== undefined) return reply;
      await waitUntilBack();
      return await run(words);
    },
    /** Adds a list of commands that run first whenever the server is back. */
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
