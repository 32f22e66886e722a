import * as v from 'valibot';
import { type Clock, clockSkew } from '../clock.ts';
import { failureCodes } from '../failures/relay-error.ts';
import type { KeyRing } from '../sealing/keys.ts';
import { isPossible } from '../sealing/lifetimes.ts';
import { createSeal } from '../sealing/sealed.ts';
import type { WatchedServer } from './availability.ts';
import type { Command } from './backlog.ts';
import { createLasting } from './recent.ts';

/** Characters of a sealed outcome: with access, refresh and ID token of the greatest length. */
const longestOutcome = 64 * 1024;
/** Milliseconds for which an outcome can be left at most. */
const longestLifetime = 3_600_000;

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
      idToken: v.exactOptional(v.string()),
      extraFields: v.optional(v.record(v.string(), v.string())),
    }),
  ),
  failure: v.optional(v.picklist(failureCodes)),
  /** Whether the response has not passed its check yet. */
  isUnchecked: v.optional(v.literal(true)),
  /** Whom the response is kept for. */
  heldFor: v.optional(v.string()),
});

/** What a call has left for others: its response or its failure. */
export type Outcome = Readonly<v.InferOutput<typeof outcomeSchema>>;

const sealedSchema = v.object({
  ...outcomeSchema.entries,
  /** Milliseconds for which others find it. */
  lifetime: v.number(),
  /** Milliseconds since 1970. So an old text that somebody writes to the server again is refused. */
  leftAt: v.number(),
});

type Sealed = Readonly<v.InferOutput<typeof sealedSchema>>;

/** Sets a name that still has this value. */
const replace =
  "if redis.call('GET',KEYS[1])==ARGV[1] then return redis.call('SET',KEYS[1],ARGV[2],'PX',ARGV[3]) end return false";

/** The command that sets a name if it still has the value `before`. */
export function replaceCommand(name: string, before: string, after: string, lifetime: number): Command {
  return { words: ['EVAL', replace, '1', name, before, after], lifetime };
}

const setCommand = (name: string, text: string, lifetime: number): Command => ({
  words: ['SET', name, text, 'PX'],
  lifetime,
});

/** The outcomes of calls that relays leave for each other at the server, sealed. @param most that a relay remembers */
export function createOutcomes(server: WatchedServer, most: number, clock: Clock) {
  let seal: ReturnType<typeof createSeal<Sealed>> | undefined;
  /** What this relay has left for others. */
  /** Whether a relay can have left an outcome so, and whether it is not over. */
  function isGood({ leftAt, lifetime }: Sealed): boolean {
    const from = leftAt / 1000;
    const until = from + lifetime / 1000;
    return isPossible(from, until, longestLifetime / 1000, clock) && clock() / 1000 <= until + clockSkew;
  }
  const own = createLasting<string>(most, () => performance.now());
  server.onReturn(() => own.all().map(({ key, value, left }) => setCommand(key, value, left)));
  return {
    setKeys(keys: KeyRing): void {
      seal = createSeal('shared memory', keys, sealedSchema, { longest: longestOutcome });
    },
    /** @returns undefined if no relay can have left the text there */
    open(name: string, text: unknown): Sealed | undefined {
      const found = typeof text === 'string' ? seal?.open(text, name) : undefined;
      if (found !== undefined && isGood(found)) return found;
      server.reportGarbage();
      return undefined;
    },
    /** Milliseconds since an outcome was left, by the clock of the server. */
    async askAge(name: string, { lifetime }: Sealed): Promise<number> {
      const answer = await server.run(['PTTL', name]);
      const rest = Number(answer?.reply);
      // If the server does not say it, the outcome counts as new: it was found a moment ago.
      return rest > 0 ? Math.max(0, lifetime - rest) : 0;
    },
    /** Leaves an outcome. @param lock what the name must still hold; undefined: it may hold anything */
    async leave(name: string, outcome: Outcome, lifetime: number, lock?: string): Promise<void> {
      const text = seal?.seal({ ...outcome, lifetime, leftAt: clock() }, name);
      if (text === undefined) return;
      if (lock === undefined) own.set(name, text, lifetime);
      const command =
        lock === undefined ? setCommand(name, text, lifetime) : replaceCommand(name, lock, text, lifetime);
      // If this got lost, the other relays would wait for the lock of a call that has ended.
      await server.runOrOwe(name, command, lifetime);
    },
    /** @param left milliseconds until the server forgets it by itself */
    async forget(name: string, left: number): Promise<void> {
      own.delete(name);
      await server.runOrOwe(name, { words: ['DEL', name] }, left);
    },
  };
}
