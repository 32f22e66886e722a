import { hkdfSync } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Clock } from '../clock.ts';
import { RelayError } from '../failures/relay-error.ts';
import type { KeyRing } from '../sealing/keys.ts';
import type { WatchedServer } from './availability.ts';
import { wordsOf } from './backlog.ts';
import { hashSharedName } from './kinds.ts';
import { createForeignLocks, isLock, newLock } from './locks.ts';
import { createOutcomes, type Outcome, replaceCommand } from './outcomes.ts';

/**
 * Milliseconds by which a lock outlives the longest call. Locks are never renewed, so even a stalled relay keeps its
 * own.
 */
const lockMargin = 5_000;
const shortestPause = 20;
const longestPause = 150;
const mostRemembered = 4096;

export interface SharedCall {
  call(): Promise<Outcome>;
  /**
   * Whether the outcome of another call is the answer. If not, this relay makes the call.
   *
   * @param hasWaited whether this relay asked while the other call was in flight
   */
  isAnswer(outcome: Outcome, hasWaited: boolean): boolean;
  /** Milliseconds for which others find it, and whether it counts even after the lock was lost. */
  keep(outcome: Outcome): { readonly lifetime: number; readonly always: boolean };
}

export interface Found {
  readonly outcome: Outcome;
  /** Milliseconds since the call ended. */
  readonly age: number;
  /** Whether this relay made the call, waited for another one, or found an earlier outcome. */
  readonly how: 'led' | 'waited' | 'repeated';
}

/** How a relay came to the outcome of a call. */
export type Leadership = Found['how'] | 'alone' | 'unclear';

export type SharedMemory = ReturnType<typeof createSharedMemory>;

/**
 * The memory that relays share, in a server with the Redis protocol. @param observe called for each call that needs a
 * lock
 */
export function createSharedMemory(server: WatchedServer, observe: (how: Leadership) => void, clock: Clock) {
  let lockTime = 15_000;
  let seed = '';
  /** The locks of this relay, by key, to set them again if the server has lost them. */
  const held = new Map<string, string>();
  server.onReturn(() =>
    [...held].map(([name, lock]) => ({ words: ['SET', name, lock, 'NX', 'PX'], lifetime: lockTime })),
  );
  const outcomes = createOutcomes(server, mostRemembered, clock);
  const awaitTurn = createTurns(server, outcomes, observe);

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
    seed: () => seed,
    /** The outcome at a key; `locked` during a call; undefined if there is nothing, or the server does not answer. */
    async peek(letter: string, key: string): Promise<Found | 'locked' | undefined> {
      const name = hashSharedName(letter, key);
      const answer = await server.run(['GET', name]);
      if (answer === undefined || answer.reply === null) return undefined;
      if (isLock(answer.reply)) return 'locked';
      const outcome = outcomes.open(name, answer.reply);
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
     * @throws {RelayError} as `createTurns` says if the server does not answer, or why this relay's call failed
     */
    async lead(letter: string, key: string, shared: SharedCall): Promise<Found> {
      const name = hashSharedName(letter, key);
      const lock = newLock();
      const known = await awaitTurn(name, lock, lockTime, shared);
      if (known !== undefined) return known;
      held.set(name, lock);
      // Finish before answering the caller: if this relay stops right then, it must have left its outcome, not its
      // lock.
      const finish = async (outcome: Outcome) => {
        const { lifetime, always } = shared.keep(outcome);
        await outcomes.leave(name, outcome, lifetime, always ? undefined : lock);
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

/**
 * Decides whose turn a call is. The function takes the lock, or waits for the outcome of its holder. It returns undefined
 * if this relay has to make the call.
 *
 * @throws {RelayError} `memory_away` if the server does not answer, and another relay may be making the call
 */
function createTurns(
  server: WatchedServer,
  outcomes: ReturnType<typeof createOutcomes>,
  observe: (how: Leadership) => void,
) {
  const foreign = createForeignLocks(mostRemembered, () => performance.now());

  /** Decides to call without a lock. @throws {RelayError} `memory_away` if another relay may be making the call */
  function goAlone(name: string): undefined {
    const wait = foreign.timeLeft(name);
    observe(wait > 0 ? 'unclear' : 'alone');
    if (wait > 0) throw memoryAway(wait);
  }

  return async (name: string, lock: string, lockTime: number, { isAnswer }: SharedCall): Promise<Found | undefined> => {
    // Returns the earlier value of the key; null if there was none, so that this relay now holds the lock.
    const take = ['SET', name, lock, 'NX', 'GET', 'PX', `${lockTime}`];
    for (let pause = shortestPause, how: Found['how'] = 'repeated'; ; how = 'waited') {
      const answer = await server.runPatiently(take);
      if (answer === undefined) return goAlone(name);
      // The lock is already there if an earlier attempt was in time, but its reply was not.
      const reply = answer.reply === lock ? null : answer.reply;
      if (foreign.isHeld(name, reply, lockTime)) {
        await sleep(pause * (0.75 + Math.random() / 2), undefined, { ref: false });
        pause = Math.min(pause * 1.5, longestPause);
        continue;
      }
      const outcome = reply === null ? undefined : outcomes.open(name, reply);
      if (outcome !== undefined && isAnswer(outcome, how === 'waited')) {
        observe(how);
        return { outcome, age: await outcomes.askAge(name, outcome), how };
      }
      if (reply !== null) {
        const taken = await server.run(wordsOf(replaceCommand(name, `${reply}`, lock, lockTime)));
        if (taken === undefined) return goAlone(name);
        // Another relay has replaced the reply first, so look again.
        if (taken.reply === null) continue;
      }
      observe('led');
      return undefined;
    }
  };
}

/** @param wait milliseconds until another relay's lock has ended, if that is known */
export function memoryAway(wait = 1000): RelayError {
  return new RelayError('memory_away', { retryIn: wait });
}
