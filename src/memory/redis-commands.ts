import { probeName } from './kinds.ts';
import type { CommandFailure, ServerObserver } from './outage-reporter.ts';
import type { RedisClient } from './redis-client.ts';

/** Milliseconds after which a command has failed. */
const commandTime = 1_000;

/** A reply of the server, which may be null. */
export interface Reply {
  readonly reply: unknown;
}

/** Creates functions that run commands, and that remember why the last command failed. */
export function createCommandRunner(client: RedisClient, observer: ServerObserver) {
  let lastFailure = 'unknown';

  /** Runs a command. @returns undefined after a failure */
  async function run(words: readonly string[]): Promise<Reply | undefined> {
    const result = await runObserved(words, client, observer);
    if (typeof result === 'object') return result;
    // Another program has written the key. That is no failure of the server, so return a reply that no relay has left.
    if (result === 'WRONGTYPE') return { reply: '' };
    lastFailure = result;
    return undefined;
  }

  return {
    run,
    /** Connects if necessary, and tries every command. @returns whether the server answered each of them */
    async probe(): Promise<boolean> {
      try {
        if (!client.isOpen()) await client.open();
        const replies = await Promise.all(probes.map(run));
        return replies.every((reply) => reply !== undefined);
      } catch (error) {
        lastFailure = readFailureCode(error);
        return false;
      }
    },
    /** The code of the last failure: `timeout`, `lost`, an errno, or the server's own. */
    lastFailure: () => lastFailure,
    /** Records why the connection was lost. */
    recordFailure(error: Error): void {
      lastFailure = readFailureCode(error);
    },
  };
}

/** Runs a command, and tells the observer how long it took. @returns the reply, or the code of the failure */
async function runObserved(
  words: readonly string[],
  client: RedisClient,
  observer: ServerObserver,
): Promise<Reply | string> {
  const start = performance.now();
  const result = await runInTime(client.run(words));
  const seconds = (performance.now() - start) / 1000;
  const failure = typeof result === 'object' ? undefined : classifyFailure(result);
  observer.command?.(words[0] ?? '', seconds, failure);
  return result;
}

/** Waits for the reply to a command, but not longer than a second. */
async function runInTime(command: Promise<unknown>): Promise<Reply | string> {
  const { promise: timeout, resolve: giveUp } = Promise.withResolvers<'timeout'>();
  // If this process was late itself, the reply may have arrived already, so read it before giving up.
  const timer = setTimeout(() => setTimeout(giveUp, 5, 'timeout'), commandTime);
  const result = command.then((reply): Reply => ({ reply }), readFailureCode);
  return await Promise.race([result, timeout]).finally(() => clearTimeout(timer));
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

/** Returns the kind of a failure for metrics, whose labels must be few. */
function classifyFailure(code: string): CommandFailure {
  if (code === 'timeout' || code === 'lost') return code;
  if (code === 'OOM') return 'full';
  const isErrno = /^E[A-Z]+$/.test(code) && code !== 'ERR';
  return isErrno ? 'lost' : 'refused';
}

/**
 * Reads the code of an error: an errno, or the first word of the server's message. Nothing else is returned, because it
 * could contain a secret.
 */
export function readFailureCode(error: unknown): string {
  if (!(error instanceof Error)) return 'lost';
  if (/^ERR unknown command/i.test(error.message)) return 'NOCOMMAND';
  const code = 'code' in error ? error.code : undefined;
  const [firstWord] = error.message.split(' ');
  return [code, firstWord].find((candidate) => /^([A-Z_]+|timeout)$/.test(`${candidate}`))?.toString() ?? 'lost';
}
