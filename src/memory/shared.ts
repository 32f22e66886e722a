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

/** Milliseconds by which a lock outlives the longest call. It is never renewed: a relay that stalls keeps it. */
const lockMargin = 5_000;
const shortestPause = 20;
const longestPause = 150;
const mostRemembered = 4096;

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
  /** Milliseconds since the call ended. */
  readonly age: number;
  /** Whether this relay has made the call itself, or has waited for another one. Otherwise, it was there before. */
  readonly how: 'led' | 'waited' | 'repeated';
}

/** How a relay came to the result of a call. */
export type Leadership = Found['how'] | 'alone' | 'unclear';

/** The memory that relays share, in a server that speaks the Redis protocol. */
export type SharedMemory = ReturnType<typeof createSharedMemory>;

/** @param observe called with each call that relays could have made twice */
export function createSharedMemory(server: WatchedServer, observe: (how: Leadership) => void, clock: Clock) {
  let lockTime = 15_000;
  let seed = '';
  /** The locks of this relay, by their names: a server that has lost them gets them again. */
  const held = new Map<string, string>();
  server.onReturn(() =>
    [...held].map(([name, lock]) => ({ words: ['SET', name, lock, 'NX', 'PX'], lifetime: lockTime })),
  );
  const foreign = createForeignLocks(mostRemembered, () => performance.now());
  const outcomes = createOutcomes(server, mostRemembered, clock);

  /** Calls without a lock. @throws {RelayError} `memory_away` if another relay may be making the call */
  function goAlone(name: string): undefined {
    const wait = foreign.timeLeft(name);
    observe(wait > 0 ? 'unclear' : 'alone');
    if (wait > 0) throw memoryAway(wait);
  }

  /**
   * Takes the lock, or waits for what its holder leaves.
   *
   * @returns undefined if this relay has to make the call
   * @throws {RelayError} as of `goAlone` if the server does not answer
   */
  async function awaitTurn(name: string, lock: string, { isAnswer }: SharedCall): Promise<Found | undefined> {
    // Gives what the name held before; null: nothing, and now the lock of this relay.
    const take = ['SET', name, lock, 'NX', 'GET', 'PX', `${lockTime}`];
    for (let pause = shortestPause, how: Found['how'] = 'repeated'; ; how = 'waited') {
      const answer = await server.runPatiently(take);
      if (answer === undefined) return goAlone(name);
      // The lock is there if an earlier attempt was in time, but its reply was not.
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
        // Another relay has replaced the reply first: look again.
        if (taken.reply === null) continue;
      }
      observe('led');
      return undefined;
    }
  }

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
    /** What was left at a key; `locked` if a call is in flight; undefined: nothing, or the server does not answer. */
    async peek(letter: string, key: string): Promise<Found | 'locked' | undefined> {
      const name = hashSharedName(letter, key);
      const answer = await server.run(['GET', name]);
      if (answer === undefined || answer.reply === null) return undefined;
      if (isLock(answer.reply)) return 'locked';
      const outcome = outcomes.open(name, answer.reply);
      return outcome && { outcome, age: await outcomes.askAge(name, outcome), how: 'repeated' };
    },
    /** Leaves something for the other relays. @param lifetime milliseconds */
    leave: (letter: string, key: string, outcome: Outcome, lifetime: number) =>
      outcomes.leave(hashSharedName(letter, key), outcome, lifetime),
    /** Takes back what was left. @param left milliseconds until the server forgets it by itself */
    forget: (letter: string, key: string, left: number) => outcomes.forget(hashSharedName(letter, key), left),
    /**
     * Makes a call that no other relay makes at the same time, or gives what another one has left.
     *
     * @throws {RelayError} as of `goAlone` if the server does not answer, or why the call of this relay failed
     */
    async lead(letter: string, key: string, shared: SharedCall): Promise<Found> {
      const name = hashSharedName(letter, key);
      const lock = newLock();
      const known = await awaitTurn(name, lock, shared);
      if (known !== undefined) return known;
      held.set(name, lock);
      // Before this relay answers its caller: if it stops then, it has left its result, not its lock.
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

/** @param wait milliseconds until nothing is unclear any more, if that is known */
export function memoryAway(wait = 1000): RelayError {
  return new RelayError('memory_away', { retryIn: wait });
}
