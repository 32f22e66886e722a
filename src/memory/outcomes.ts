import * as v from 'valibot';
import { type Clock, clockSkew } from '../clock.ts';
import { failureCodes } from '../failures/relay-error.ts';
import type { KeyRing } from '../sealing/keys.ts';
import { couldBeIssued, createSeal } from '../sealing/seal.ts';
import type { Command } from './backlog.ts';
import { createExpiringMap } from './expiring-map.ts';
import type { WatchedServer } from './redis-outages.ts';

/** The longest sealed outcome, with access, refresh and ID token of the greatest length. */
const longestOutcome = 64 * 1024;
/** Milliseconds. No relay leaves an outcome for longer. */
const longestLifetime = 3_600_000;

// A token response has all of these keys, even with the value undefined. Valibot leaves out a missing optional key,
// unless it has a default.
const toUndefined = () => undefined;
const maybeText = v.optional(v.string(), toUndefined);
const maybeSeconds = v.optional(v.number(), toUndefined);
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
      idToken: v.exactOptional(v.string()),
      extraFields: v.optional(v.record(v.string(), v.string())),
    }),
  ),
  failure: v.optional(v.picklist(failureCodes)),
  /** Whether the response has not passed its check yet. */
  isUnchecked: v.optional(v.literal(true)),
  /** The binding of the redemption that the response is kept for. */
  heldFor: v.optional(v.string()),
});

/** The outcome of a call that a relay has left for others: a response or a failure. */
export type Outcome = Readonly<v.InferOutput<typeof outcomeSchema>>;

const sealedSchema = v.object({
  ...outcomeSchema.entries,
  /** Milliseconds for which others find the outcome. */
  lifetime: v.number(),
  /** Milliseconds since 1970. So a relay refuses an old text that somebody has put back into the server. */
  leftAt: v.number(),
});

type Sealed = Readonly<v.InferOutput<typeof sealedSchema>>;

/** Replaces a value only if it is still the expected one. */
const replaceScript =
  "if redis.call('GET',KEYS[1])==ARGV[1] then return redis.call('SET',KEYS[1],ARGV[2],'PX',ARGV[3]) end return false";

/** The command that sets a key if its value is still `before`. */
export function replaceCommand(name: string, before: string, after: string, lifetime: number): Command {
  return { words: ['EVAL', replaceScript, '1', name, before, after], lifetime };
}

const setCommand = (name: string, text: string, lifetime: number): Command => ({
  words: ['SET', name, text, 'PX'],
  lifetime,
});

/** Leaves sealed outcomes of calls for other relays in the server. @param most outcomes that this relay remembers */
export function createOutcomes(server: WatchedServer, most: number, clock: Clock) {
  let seal: ReturnType<typeof createSeal<Sealed>> | undefined;
  /** Whether a relay can have left an outcome with these times, and the outcome has not expired. */
  function mayBeFromRelay({ leftAt, lifetime }: Sealed): boolean {
    const from = leftAt / 1000;
    const until = from + lifetime / 1000;
    return couldBeIssued(from, until, longestLifetime / 1000, clock) && clock() / 1000 <= until + clockSkew;
  }
  const ownTexts = createExpiringMap<string>(most, () => performance.now());
  server.onReturn(() => ownTexts.all().map(({ key, value, left }) => setCommand(key, value, left)));
  return {
    /** Sets the keys that seal outcomes, or replaces them after a reload. */
    setKeys(keys: KeyRing): void {
      seal = createSeal('shared memory', keys, sealedSchema, { longest: longestOutcome });
    },
    /** Opens a text from the server. @returns undefined if no relay can have left it there */
    openText(name: string, text: unknown): Sealed | undefined {
      const opened = typeof text === 'string' ? seal?.open(text, name) : undefined;
      if (opened !== undefined && mayBeFromRelay(opened)) return opened;
      server.reportGarbage();
      return undefined;
    },
    /** Asks how many milliseconds ago an outcome was left, by the clock of the server. */
    async askAge(name: string, { lifetime }: Sealed): Promise<number> {
      const answer = await server.run(['PTTL', name]);
      const timeLeft = Number(answer?.reply);
      // Without an answer, the outcome counts as new.
      return timeLeft > 0 ? Math.max(0, lifetime - timeLeft) : 0;
    },
    /**
     * Leaves an outcome. Without keys (`setKeys`), it does nothing.
     *
     * @param lifetime milliseconds
     * @param lock the value that the outcome replaces; undefined if it replaces any value
     */
    async leave(name: string, outcome: Outcome, lifetime: number, lock?: string): Promise<void> {
      const text = seal?.seal({ ...outcome, lifetime, leftAt: clock() }, name);
      if (text === undefined) return;
      // If the server loses an outcome that counts without a lock, this relay leaves it again. Any other outcome may be
      // outdated by then.
      if (lock === undefined) ownTexts.set(name, text, lifetime);
      const command =
        lock === undefined ? setCommand(name, text, lifetime) : replaceCommand(name, lock, text, lifetime);
      // If this command were lost, the other relays would wait for the lock of a call that has ended.
      await server.runOrOwe(name, command, lifetime);
    },
    /** Takes an outcome back. @param left milliseconds until the server drops it anyway */
    async forget(name: string, left: number): Promise<void> {
      ownTexts.delete(name);
      await server.runOrOwe(name, { words: ['DEL', name] }, left);
    },
  };
}
