import { randomBytes } from 'node:crypto';
import * as v from 'valibot';
import { type Clock, clockSkew } from '../clock.ts';
import { RelayError, unlessFailed } from '../failures/relay-error.ts';
import type { Context } from '../http/context.ts';
import { atDoor, createLoginCookies } from '../login/cookies.ts';
import { deriveCodeChallenge, deriveLoginParts } from '../login/pkce.ts';
import type { AccessTokenContent } from '../resources/access-tokens.ts';
import type { Resource } from '../resources/resource.ts';
import type { KeyRing } from '../sealing/keys.ts';
import { createSeal } from '../sealing/sealed.ts';
import { times } from '../times.ts';

const secretLength = 32;
/** Milliseconds after a login in which a second login means that the browser refuses the cookie. */
const finishedTime = 60_000;

export interface DoorLogin {
  /** Path and query at the resource's host, where the login ends. */
  readonly wayBack: string;
  /** When it began, in milliseconds since 1970. */
  readonly at: number;
  /** The earlier login, which this one renews if the same person logs in. */
  readonly renews?: Pick<AccessTokenContent, 'login' | 'sub'> | undefined;
}

// No field names, because the cookies of all logins share a few KB.
const content = v.union([
  v.strictTuple([v.string(), v.number(), v.string(), v.string()]),
  v.strictTuple([v.string(), v.number()]),
]);

const ticketContent = v.object({
  /** An S256 challenge, whose verifier only the browser of the login can show. */
  challenge: v.string(),
  at: v.number(),
  /** The account that the person probably logs in with. */
  loginHint: v.optional(v.string()),
});

export type DoorLogins = ReturnType<typeof createDoorLogins>;

/**
 * The logins of browsers at one resource. A cookie at the host of the resource binds each login to its browser, and
 * holds the way back. The host of the login only accepts a sealed ticket. Without it, a script in the application could
 * start a login with its own challenge, and redeem the code without touching the cookie.
 */
export function createDoorLogins(keys: KeyRing, { audience, url }: Pick<Resource, 'audience' | 'url'>, now: Clock) {
  const cookies = createLoginCookies(url.startsWith('https:'), atDoor);
  const seal = createSeal('door login', keys, content);
  const tickets = createSeal('door start', keys, ticketContent);

  /**
   * A login is identified by its challenge, which is also its `state`: nobody can guess it, and only the browser with
   * the cookie has the verifier.
   */
  const idOf = (challenge: string) => Buffer.from(challenge, 'base64url');
  const isInTime = (at: number) => now() - at <= times.login * 1000 && at - now() <= clockSkew * 1000;

  /** What was sealed into the cookies of a login. */
  function openKept(ctx: Context, challenge: string): DoorLogin | undefined {
    const kept = cookies.findKept(ctx, idOf(challenge));
    const [wayBack, at, login, sub] = (kept === undefined ? undefined : seal.open(kept, ...audience, challenge)) ?? [];
    if (wayBack === undefined || at === undefined) return undefined;
    return { wayBack, at, renews: login === undefined || sub === undefined ? undefined : { login, sub } };
  }

  return {
    /** Begins a login: sets its cookie. @returns the ticket for its start */
    begin(ctx: Context, { wayBack, renews }: Omit<DoorLogin, 'at'>, loginHint?: string): string {
      const secret = randomBytes(secretLength);
      const challenge = deriveCodeChallenge(deriveLoginParts(secret).codeVerifier);
      const at = now();
      const held = renews ? ([wayBack, at, renews.login, renews.sub] as const) : ([wayBack, at] as const);
      cookies.set(ctx, idOf(challenge), secret, seal.seal([...held], ...audience, challenge));
      return tickets.seal({ challenge, at, loginHint }, ...audience);
    },
    /** Opens a ticket. @throws {RelayError} `state_altered` or `state_expired` */
    openTicket(text: unknown): Readonly<v.InferOutput<typeof ticketContent>> {
      const ticket = typeof text === 'string' ? tickets.open(text, ...audience) : undefined;
      if (ticket === undefined) throw new RelayError('state_altered');
      if (!isInTime(ticket.at)) throw new RelayError('state_expired');
      return ticket;
    },
    /**
     * Verifies that this browser began the login of a callback.
     *
     * @param state the challenge of the login
     * @returns the login with its verifier. Without a way back, newer logins have overwritten the cookies with it
     * @throws {RelayError} `state_missing`, `state_finished`, `state_unknown`, `state_expired` or `cookie_invalid`
     */
    verify(
      ctx: Context,
      state: string | undefined,
    ): { readonly login: DoorLogin | undefined; readonly verifier: string } {
      if (!state) throw new RelayError('state_missing');
      const secret = cookies.get(ctx, idOf(state));
      if (secret === undefined) {
        throw new RelayError(cookies.isFinished(ctx, idOf(state)) ? 'state_finished' : 'state_unknown');
      }
      const { codeVerifier } = deriveLoginParts(secret);
      // The cookie was found by a part of the id only, so compare the whole challenge.
      if (deriveCodeChallenge(codeVerifier) !== state) throw new RelayError('state_altered');
      const login = openKept(ctx, state);
      if (login !== undefined && !isInTime(login.at)) throw new RelayError('state_expired');
      return { login, verifier: codeVerifier };
    },
    /** What this browser kept of a login. Undefined if its cookie is gone. */
    find(ctx: Context, state: string): DoorLogin | undefined {
      const login = unlessFailed(() => openKept(ctx, state));
      return login !== undefined && isInTime(login.at) ? login : undefined;
    },
    /** Ends a login whose browser has shown the new cookie: clears the cookies of the login. */
    finish(ctx: Context, state: string): void {
      const isOfBrowser = unlessFailed(() => cookies.get(ctx, idOf(state))) !== undefined;
      if (isOfBrowser) cookies.finish(ctx, idOf(state), now());
    },
    /**
     * Whether this browser got the cookie of the door within the last minute. @param before only logins up to this time
     */
    hasFinished: (ctx: Context, before = Number.POSITIVE_INFINITY): boolean => {
      const at = cookies.finishedAt(ctx);
      return at !== undefined && at <= before && now() - at < finishedTime;
    },
    /** Whether this browser is renewing a login, or failed to within the last ten minutes. */
    isRenewing: (ctx: Context, login: string): boolean =>
      cookies.pendingSecrets(ctx).some((secret) => {
        const challenge = deriveCodeChallenge(deriveLoginParts(secret).codeVerifier);
        const pending = openKept(ctx, challenge);
        return pending?.renews?.login === login && isInTime(pending.at);
      }),
    /** Allows the next login at once, because a person has asked for it. */
    forgetFinished: cookies.forgetFinished,
    /** Forgets all logins of this browser: those that have begun, and those that have finished. */
    forget: cookies.forget,
  };
}
