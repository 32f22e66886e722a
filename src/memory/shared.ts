import { hash, hkdfSync } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import * as v from 'valibot';
import type { Clock } from '../clock.ts';
import { failureCodes, RelayError } from '../failures/relay-error.ts';
import type { KeyRing } from '../sealing/keys.ts';
import { createSeal } from '../sealing/sealed.ts';
import type { ServerLink } from './link.ts';
import { createForeignLocks, isLock, newLock } from './locks.ts';
import { createLasting } from './recent.ts';

/** Milliseconds by which a lock outlives the longest call. It is never renewed: a relay that stalls keeps it. */
const lockMargin = 5_000;
const shortestPause = 20;
const longestPause = 150;
/** Characters of a sealed result: with two tokens of the greatest length. */
const longestResult = 64 * 1024;
const mostRemembered = 4096;
/** Milliseconds by which the clocks of relays may differ. */
const clockSkew = 60_000;

/** Sets a name that still has this value. */
const replace =
  "if redis.call('GET',KEYS[1])==ARGV[1] then return redis.call('SET',KEYS[1],ARGV[2],'PX',ARGV[3]) end return false";

const nothing = () => undefined;
const maybeText = v.optional(v.string(), nothing);
const maybeSeconds = v.optional(v.number(), nothing);
const outcomeSchema = v.object({
  scope: v.optional(v.string()),
  response: v.optional(
    v.object({
      accessToken: v.string(),
      tokenType: maybeText,
      expiresIn: maybeSeconds,
      refreshToken: maybeText,
      refreshExpiresIn: maybeSeconds,
      scope: maybeText,
    }),
  ),
  failure: v.optional(v.picklist(failureCodes)),
  /** Whether the response has not passed its check yet. */
  isUnchecked: v.optional(v.literal(true)),
});

/** What a call has left for others: its response or its failure. */
export type Outcome = Readonly<v.InferOutput<typeof outcomeSchema>>;

const sealedSchema = v.object({
  ...outcomeSchema.entries,
  /** Milliseconds for which others find it. */
  lifetime: v.number(),
  /** Milliseconds since 1970. Whoever writes to the server could put an old result back. */
  leftAt: v.number(),
});

type Sealed = Readonly<v.InferOutput<typeof sealedSchema>>;

/** A call that one relay makes for all. */
export interface SharedCall {
  call(): Promise<Outcome>;
  /**
   * Whether what another call has left is the answer. Otherwise, the call is made.
   *
   * @param hasWaited whether this relay has asked while that call was in flight
   */
  isAnswer(outcome: Outcome, hasWaited: boolean): boolean;
  /** Milliseconds for which others find it, and whether it counts even if the lock is no longer held. */
  keep(outcome: Outcome): { readonly lifetime: number; readonly always: boolean };
}

export interface Found {
  readonly outcome: Outcome;
  /** Milliseconds since then. */
  readonly age: number;
  /** Whether this relay has made the call itself, or has waited for another one. Otherwise, it was there before. */
  readonly how: 'led' | 'waited' | 'repeated';
}

/** How a relay came to the result of a call. */
export type Leadership = Found['how'] | 'alone' | 'unclear';

/** The memory that relays share, in a server that speaks the Redis protocol. */
export type SharedMemory = ReturnType<typeof createSharedMemory>;

/** @param observe called with each call that relays could have made twice */
export function createSharedMemory(
  link: ServerLink,
  observe: (how: Leadership) => void,
  clock: Clock,
) {
  const now = () => performance.now();
  let seal: ReturnType<typeof createSeal<Sealed>> | undefined;
  let lockTime = 15_000;
  let seed = '';
  const held = new Map<string, string>();
  /** What this relay has left for others. */
  const own = createLasting<string>(mostRemembered, now);
  const foreign = createForeignLocks(mostRemembered, now);

  link.onReturn(() => [
    ...[...held].map(([name, lock]) => ['SET', name, lock, 'NX', 'PX', `${lockTime}`]),
    ...own.all().map(({ key, value, left }) => ['SET', key, value, 'PX', `${Math.ceil(left)}`]),
  ]);

  function open(name: string, text: unknown): Sealed | undefined {
    const found = typeof text === 'string' ? seal?.open(text, name) : undefined;
    if (found !== undefined && clock() <= found.leftAt + found.lifetime + clockSkew) return found;
    link.reportGarbage();
    return undefined;
  }

  /** The age of a value, by the clock of the server. */
  async function ageOf(name: string, { lifetime }: Sealed): Promise<number> {
    const answer = await link.run(['PTTL', name]);
    const rest = Number(answer?.reply);
    // A result that seems too old would be asked for again. It was found a moment ago.
    return rest > 0 ? Math.max(0, lifetime - rest) : 0;
  }

  /** @throws {RelayError} `memory_away` if another relay may be at it */
  function goAlone(name: string): undefined {
    const wait = foreign.timeLeft(name);
    observe(wait > 0 ? 'unclear' : 'alone');
    if (wait > 0) throw memoryAway(wait);
  }

  /**
   * Takes the lock, or waits for what its holder leaves.
   *
   * @returns undefined if the call is this relay's
   * @throws {RelayError} `memory_away` if the server does not answer, and another relay may be at it
   */
  async function awaitTurn(
    name: string,
    lock: string,
    { isAnswer }: SharedCall,
  ): Promise<Found | undefined> {
    const take = ['SET', name, lock, 'NX', 'GET', 'PX', `${lockTime}`];
    for (let pause = shortestPause, how: Found['how'] = 'repeated'; ; how = 'waited') {
      const answer = await link.runPatiently(take);
      if (answer === undefined) return goAlone(name);
      // This relay's own lock, if the server was late.
      const reply = answer.reply === lock ? null : answer.reply;
      if (foreign.isHeld(name, reply, lockTime)) {
        await sleep(pause * (0.75 + Math.random() / 2), undefined, { ref: false });
        pause = Math.min(pause * 1.5, longestPause);
        continue;
      }
      const outcome = reply === null ? undefined : open(name, reply);
      if (outcome !== undefined && isAnswer(outcome, how === 'waited')) {
        observe(how);
        return { outcome, age: await ageOf(name, outcome), how };
      }
      if (reply !== null) {
        const taken = await link.run(replacing(name, `${reply}`, lock, lockTime));
        if (taken === undefined) return goAlone(name);
        // Another relay was faster.
        if (taken.reply === null) continue;
      }
      observe('led');
      return undefined;
    }
  }

  /** @param lock undefined: it counts whether or not this relay holds a lock */
  async function leave(name: string, outcome: Outcome, lifetime: number, lock?: string) {
    const text = seal?.seal({ ...outcome, lifetime, leftAt: clock() }, name);
    if (text === undefined) return;
    if (lock === undefined) own.set(name, text, lifetime);
    const words = ['SET', name, text, 'PX', `${lifetime}`];
    await link.run(lock === undefined ? words : replacing(name, lock, text, lifetime));
  }

  return {
    isAway: link.isAway,
    close: link.close,
    run: link.run,
    onReturn: link.onReturn,
    /** @param callTime milliseconds that a call takes at most */
    configure(keys: KeyRing, callTime: number): void {
      seal = createSeal('shared memory', keys, sealedSchema, longestResult);
      lockTime = callTime + lockMargin;
      seed = Buffer.from(hkdfSync('sha256', keys[0], '', 'counters', 16)).toString('hex');
    },
    seed: () => seed,
    /** What was left at a key; `locked` if a call is in flight; undefined: nothing, or the server does not answer. */
    async peek(kind: string, key: string): Promise<Found | 'locked' | undefined> {
      const name = sharedName(kind, key);
      const answer = await link.run(['GET', name]);
      if (answer === undefined || answer.reply === null) return undefined;
      if (isLock(answer.reply)) return 'locked';
      const outcome = open(name, answer.reply);
      return outcome && { outcome, age: await ageOf(name, outcome), how: 'repeated' };
    },
    /** Leaves something for the other relays. @param lifetime milliseconds */
    leave: (kind: string, key: string, outcome: Outcome, lifetime: number) =>
      leave(sharedName(kind, key), outcome, lifetime),
    /** Takes back what was left. */
    async forget(kind: string, key: string): Promise<void> {
      const name = sharedName(kind, key);
      own.delete(name);
      await link.run(['DEL', name]);
    },
    /**
     * Makes a call that no other relay makes at the same time, or gives what another one has left.
     *
     * @throws {RelayError} `memory_away` if the server does not answer and another relay may be at it, or why the call
     *   of this relay failed
     */
    async lead(kind: string, key: string, shared: SharedCall): Promise<Found> {
      const name = sharedName(kind, key);
      const lock = newLock();
      const known = await awaitTurn(name, lock, shared);
      if (known !== undefined) return known;
      held.set(name, lock);
      // Before the answer: a relay that stops then has left its result, not its lock.
      const finish = async (outcome: Outcome) => {
        const { lifetime, always } = shared.keep(outcome);
        await leave(name, outcome, lifetime, always ? undefined : lock);
        held.delete(name);
      };
      try {
        const outcome = await shared.call();
        await finish(outcome);
        return { outcome, age: 0, how: 'led' };
      } catch (error) {
        await finish({ failure: error instanceof RelayError ? error.code : 'internal_error' });
        throw error;
      }
    },
  };
}

function replacing(name: string, before: string, after: string, lifetime: number): string[] {
  return ['EVAL', replace, '1', name, before, after, `${lifetime}`];
}

/**
 * The name of a key at the server. It says nothing of what it stands for, and each command has one: a cluster needs no
 * more.
 */
export function sharedName(kind: string, key: string): string {
  return `login-relay:1:${kind}:${hash('sha256', key, 'base64url')}`;
}

/** @param wait milliseconds until nothing is unclear any more, if that is known */
export function memoryAway(wait = 1000): RelayError {
  return new RelayError('memory_away', { retryIn: wait });
}
