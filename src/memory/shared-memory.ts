import { hkdfSync } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Clock } from '../clock.ts';
import { RelayError } from '../failures/relay-error.ts';
import type { KeyRing } from '../sealing/keys.ts';
import { writeCommand } from './backlog.ts';
import { hashSharedName } from './kinds.ts';
import { createForeignLocks, createLock, isLock } from './locks.ts';
import { createOutcomes, type Outcome, replaceCommand } from './outcomes.ts';
import type { WatchedServer } from './redis-outages.ts';

/**
 * Milliseconds by which a lock outlives the longest call. Locks are never renewed, so even a stalled relay keeps its
 * own.
 */
const lockMargin = 5_000;
const shortestPause = 20;
const longestPause = 150;
const mostRemembered = 4096;

/** A call that only one relay makes, for all relays that need its outcome. */
export interface SharedCall {
  call(): Promise<Outcome>;
  /**
   * Whether the outcome of another call is the answer. If not, this relay makes the call.
   *
   * @param hasWaited whether this relay asked while the other call was in flight
   */
  isAnswer(outcome: Outcome, hasWaited: boolean): boolean;
  /**
   * How to keep the outcome: for how many milliseconds other relays find it, and whether it counts even if the lock was
   * lost meanwhile.
   */
  keep(outcome: Outcome): { readonly lifetime: number; readonly countsWithoutLock: boolean };
}

/** The outcome of a shared call. */
export interface FoundOutcome {
  readonly outcome: Outcome;
  /** Milliseconds since the call ended. */
  readonly age: number;
  /** Whether this relay made the call, waited for another one, or found an earlier outcome. */
  readonly how: 'led' | 'waited' | 'repeated';
}

/**
 * How a relay came to the outcome of a call, as metrics show it. If the server does not answer, the relay makes the call
 * without a lock (`alone`), or refuses it because another relay may be making it (`unclear`).
 */
export type Leadership = FoundOutcome['how'] | 'alone' | 'unclear';

export type SharedMemory = ReturnType<typeof createSharedMemory>;

/**
 * Creates the memory that relays share, in a server with the Redis protocol.
 *
 * @param observe called for each call that needs a lock
 */
export function createSharedMemory(server: WatchedServer, observe: (how: Leadership) => void, clock: Clock) {
  let lockTime = 15_000;
  let seed = '';
  /** The locks of this relay, by key, to set them again if the server has lost them. */
  const ownLocks = new Map<string, string>();
  server.onReturn(() =>
    [...ownLocks].map(([name, lock]) => ({ words: ['SET', name, lock, 'NX', 'PX'], lifetime: lockTime })),
  );
  const outcomes = createOutcomes(server, mostRemembered, clock);
  const awaitTurn = createCallTurns(server, outcomes, observe);

  return {
    isAway: server.isAway,
    close: server.close,
    run: server.run,
    runOrOwe: server.runOrOwe,
    onReturn: server.onReturn,
    /** @param callTime milliseconds that a call takes at most */
    configure(keys: KeyRing, callTime: number): void {
      outcomes.setKeys(keys);
      lockTime = callTime + lockMargin;
      seed = Buffer.from(hkdfSync('sha256', keys[0], '', 'counters', 16)).toString('hex');
    },
    /** A secret that relays with the same key share, so that `createCounters` gives an address the same counter. */
    seed: () => seed,
    /**
     * Reads the outcome at a key.
     *
     * @returns `locked` during a call; undefined if there is nothing, or the server does not answer
     */
    async peek(letter: string, key: string): Promise<FoundOutcome | 'locked' | undefined> {
      const name = hashSharedName(letter, key);
      const answer = await server.run(['GET', name]);
      if (answer === undefined || answer.reply === null) return undefined;
      if (isLock(answer.reply)) return 'locked';
      const outcome = outcomes.openText(name, answer.reply);
      return outcome && { outcome, age: await outcomes.askAge(name, outcome), how: 'repeated' };
    },
    /** Leaves an outcome for the other relays. @param lifetime milliseconds */
    leave: (letter: string, key: string, outcome: Outcome, lifetime: number) =>
      outcomes.leave(hashSharedName(letter, key), outcome, lifetime),
    /** Takes an outcome back. @param left milliseconds until the server drops it anyway */
    forget: (letter: string, key: string, left: number) => outcomes.forget(hashSharedName(letter, key), left),
    /**
     * Makes a call that no other relay makes at the same time, or returns what another relay's call has left.
     *
     * @throws {RelayError} `memory_away` if the server does not answer, and another relay may be making the call; or why
     *   this relay's call failed
     */
    async callOnce(letter: string, key: string, sharedCall: SharedCall): Promise<FoundOutcome> {
      const name = hashSharedName(letter, key);
      const lock = createLock();
      const known = await awaitTurn(name, lock, lockTime, sharedCall);
      if (known !== undefined) return known;
      ownLocks.set(name, lock);
      // Replaces the lock of this relay. It is awaited before the caller gets the answer: if the relay then stops, the
      // other relays must find the outcome, and not wait for the lock.
      const leaveOutcome = async (outcome: Outcome) => {
        const { lifetime, countsWithoutLock } = sharedCall.keep(outcome);
        await outcomes.leave(name, outcome, lifetime, countsWithoutLock ? undefined : lock);
        ownLocks.delete(name);
      };
      try {
        const outcome = await sharedCall.call();
        await leaveOutcome(outcome);
        return { outcome, age: 0, how: 'led' };
      } catch (error) {
        await leaveOutcome({ failure: error instanceof RelayError ? error.code : 'internal_error' });
        throw error;
      }
    },
  };
}

/**
 * Creates a function that decides which relay makes a call. That function takes the lock, or waits for the outcome of
 * the lock's holder and returns it. It returns undefined if this relay has to make the call. It throws `memory_away` if
 * the server does not answer while another relay may be making the call.
 */
function createCallTurns(
  server: WatchedServer,
  outcomes: ReturnType<typeof createOutcomes>,
  observe: (how: Leadership) => void,
) {
  const foreignLocks = createForeignLocks(mostRemembered, () => performance.now());

  /** Decides to call without a lock. @throws {RelayError} `memory_away` if another relay may be making the call */
  function decideWithoutLock(name: string): undefined {
    const wait = foreignLocks.timeLeft(name);
    observe(wait > 0 ? 'unclear' : 'alone');
    if (wait > 0) throw memoryAway(wait);
  }

  return async (
    name: string,
    lock: string,
    lockTime: number,
    { isAnswer }: SharedCall,
  ): Promise<FoundOutcome | undefined> => {
    // The reply is the earlier value of the key, or null if there was none. Then this relay holds the lock.
    const takeLock = ['SET', name, lock, 'NX', 'GET', 'PX', `${lockTime}`];
    let pause = shortestPause;
    let how: FoundOutcome['how'] = 'repeated';
    while (true) {
      const answer = await server.runPatiently(takeLock);
      if (answer === undefined) return decideWithoutLock(name);
      // This lock is there already if an earlier attempt was in time, but its reply was not.
      const reply = answer.reply === lock ? null : answer.reply;
      if (foreignLocks.isHeld(name, reply, lockTime)) {
        how = 'waited';
        await sleep(pause * (0.75 + Math.random() / 2), undefined, { ref: false });
        pause = Math.min(pause * 1.5, longestPause);
        continue;
      }
      const outcome = reply === null ? undefined : outcomes.openText(name, reply);
      if (outcome !== undefined && isAnswer(outcome, how === 'waited')) {
        observe(how);
        return { outcome, age: await outcomes.askAge(name, outcome), how };
      }
      if (reply === null) break;
      const replaced = await server.run(writeCommand(replaceCommand(name, `${reply}`, lock, lockTime)));
      if (replaced === undefined) return decideWithoutLock(name);
      if (replaced.reply !== null) break;
      // Another relay has replaced the value first, so try again.
      how = 'waited';
    }
    observe('led');
    return undefined;
  };
}

/** The failure of a call that another relay may be making. @param wait milliseconds until its lock ends, if known */
export function memoryAway(wait = 1000): RelayError {
  return new RelayError('memory_away', { retryIn: wait });
}
