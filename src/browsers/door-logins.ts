import { randomBytes } from 'node:crypto';
import * as v from 'valibot';
import { type Clock, clockSkew } from '../clock.ts';
import { RelayError, undefinedIfFailed } from '../failures/relay-error.ts';
import type { Context } from '../http/context.ts';
import { atDoor, createLoginCookies } from '../login/cookies.ts';
import { browserSecretLength, deriveCodeChallenge, deriveLoginParts } from '../login/pkce.ts';
import type { Resource } from '../resources/resource.ts';
import type { KeyRing } from '../sealing/keys.ts';
import { createSeal } from '../sealing/seal.ts';
import { times } from '../times.ts';
import { isHttps } from '../urls.ts';

/** Milliseconds. A browser that needs a login so soon after the last one refuses the cookie. */
const finishedTime = 60_000;

export interface DoorLogin {
  /** Path and query at the resource's host, where the login ends. */
  readonly wayBack: string;
  /** When it began, in milliseconds since 1970. */
  readonly at: number;
  /** The id of the earlier login, which this login renews if the same person logs in. */
  readonly renews?: string | undefined;
}

// A `DoorLogin` without field names, because the cookies of all logins share a few KB: the way back, the time of the
// start, and for a renewal the id of the earlier login. The person is not among them, because an id may be so long that
// no login would fit.
const content = v.union([v.tuple([v.string(), v.number(), v.string()]), v.strictTuple([v.string(), v.number()])]);

const ticketContent = v.object({
  /** The S256 challenge of the verifier in the browser's cookie. */
  challenge: v.string(),
  at: v.number(),
  /** The account that the person probably logs in with. */
  loginHint: v.optional(v.string()),
});

/** Whether a login or ticket from `at` (milliseconds since 1970) has not expired, and is not from the future. */
const isInTime = (at: number, now: Clock) => now() - at <= times.login * 1000 && at - now() <= clockSkew * 1000;

export type DoorTickets = ReturnType<typeof createDoorTickets>;

/**
 * The tickets with which logins of browsers start on the relay's own host, for one resource at one registration.
 * Without a ticket, a script in the application could start a login with its own challenge, and redeem the code without
 * touching the cookie.
 */
export function createDoorTickets(keys: KeyRing, { audience }: Pick<Resource, 'audience'>, now: Clock) {
  const seal = createSeal('door start', keys, ticketContent);
  return {
    /** @param challenge of a login that `begin` of `DoorLogins` has begun */
    issue: (challenge: string, loginHint?: string): string =>
      seal.seal({ challenge, at: now(), loginHint }, ...audience),
    /** @throws {RelayError} `state_altered` or `state_expired` */
    open(text: unknown): Readonly<v.InferOutput<typeof ticketContent>> {
      const ticket = typeof text === 'string' ? seal.open(text, ...audience) : undefined;
      if (ticket === undefined) throw new RelayError('state_altered');
      if (!isInTime(ticket.at, now)) throw new RelayError('state_expired');
      return ticket;
    },
  };
}

export type DoorLogins = ReturnType<typeof createDoorLogins>;

/**
 * The logins of browsers at one resource, whatever their provider. A cookie at the host of the resource binds each
 * login to its browser, and holds the way back.
 */
export function createDoorLogins(keys: KeyRing, { url }: Pick<Resource, 'url'>, now: Clock) {
  const cookies = createLoginCookies(isHttps(url), atDoor);
  const seal = createSeal('door login', keys, content);

  /**
   * A login is identified by its challenge, which is also its `state`: nobody can guess it, and only the browser with
   * the cookie has the verifier.
   */
  const loginId = (challenge: string) => Buffer.from(challenge, 'base64url');

  /** The login that `begin` sealed into the cookies of this browser. Undefined if they are gone or altered. */
  function openLogin(ctx: Context, challenge: string): DoorLogin | undefined {
    const sealed = cookies.findKept(ctx, loginId(challenge));
    const opened = sealed === undefined ? undefined : seal.open(sealed, url, challenge);
    if (opened === undefined) return undefined;
    const [wayBack, at, renews] = opened;
    return { wayBack, at, renews };
  }

  /** The logins that this browser has begun and not finished, as far as their cookies are complete. */
  function findPending(ctx: Context): (DoorLogin & { readonly challenge: string })[] {
    return cookies.pendingSecrets(ctx).flatMap((secret) => {
      const challenge = deriveCodeChallenge(deriveLoginParts(secret).codeVerifier);
      const login = openLogin(ctx, challenge);
      return login !== undefined && isInTime(login.at, now) ? [{ ...login, challenge }] : [];
    });
  }

  return {
    /** Begins a login, and sets its cookies. @returns the challenge, which identifies it */
    begin(ctx: Context, { wayBack, renews }: Omit<DoorLogin, 'at'>): string {
      const secret = randomBytes(browserSecretLength);
      const challenge = deriveCodeChallenge(deriveLoginParts(secret).codeVerifier);
      const at = now();
      const sealed = seal.seal(renews === undefined ? [wayBack, at] : [wayBack, at, renews], url, challenge);
      cookies.set(ctx, loginId(challenge), secret, sealed);
      return challenge;
    },
    /**
     * Continues a login whose provider the person has chosen now. If the cookies of the login are gone, or half of its
     * time is over, it begins another login with the same way back, so that there is time for the login at the
     * provider. It never continues a renewal, because a refusal at another provider must not end the renewed login.
     *
     * @returns the challenge of the continued login or of the new one
     */
    continueOrBegin(ctx: Context, challenge: string): string {
      const login = this.find(ctx, challenge);
      const halfOfTime = (times.login * 1000) / 2;
      const mayContinue = login !== undefined && login.renews === undefined && now() - login.at <= halfOfTime;
      return mayContinue ? challenge : this.begin(ctx, { wayBack: login?.wayBack ?? '/' });
    },
    /**
     * Verifies that this browser began the login of a callback.
     *
     * @param state the challenge of the login
     * @returns the verifier of the login. `login` is undefined if newer logins have overwritten the cookies that held
     *   it
     * @throws {RelayError} `state_missing`, `state_finished`, `state_unknown`, `state_expired` or `cookie_invalid`
     */
    verify(
      ctx: Context,
      state: string | undefined,
    ): { readonly login: DoorLogin | undefined; readonly verifier: string } {
      if (!state) throw new RelayError('state_missing');
      const id = loginId(state);
      const secret = cookies.get(ctx, id);
      if (secret === undefined) {
        throw new RelayError(cookies.isFinished(ctx, id) ? 'state_finished' : 'state_unknown');
      }
      const { codeVerifier } = deriveLoginParts(secret);
      // The cookie was found by a part of the id only, so compare the whole challenge.
      if (deriveCodeChallenge(codeVerifier) !== state) throw new RelayError('state_altered');
      const login = openLogin(ctx, state);
      if (login !== undefined && !isInTime(login.at, now)) throw new RelayError('state_expired');
      return { login, verifier: codeVerifier };
    },
    /** The login in this browser's cookies. Undefined if they are gone, altered or too old. */
    find(ctx: Context, state: string): DoorLogin | undefined {
      const login = undefinedIfFailed(() => openLogin(ctx, state));
      return login !== undefined && isInTime(login.at, now) ? login : undefined;
    },
    /**
     * Clears the cookies of a login once the browser has shown the cookie of the door. The time that it remembers is
     * later than the beginnings of the logins in other tabs. Otherwise, if a relay whose clock is ahead began one of
     * them, `hasFinished` would say that it began after this one was finished.
     */
    finish(ctx: Context, state: string): void {
      const isOfBrowser = undefinedIfFailed(() => cookies.get(ctx, loginId(state))) !== undefined;
      if (!isOfBrowser) return;
      const others = findPending(ctx).filter(({ challenge }) => challenge !== state);
      cookies.finish(ctx, loginId(state), Math.max(now(), ...others.map(({ at }) => at + 1)));
    },
    /**
     * Whether this browser finished a login within the last minute.
     *
     * @param before counts only a login that was finished up to this time, in milliseconds since 1970
     */
    hasFinished: (ctx: Context, before = Number.POSITIVE_INFINITY): boolean => {
      const at = cookies.finishedAt(ctx);
      return at !== undefined && at <= before && now() - at < finishedTime;
    },
    /** Whether this browser is renewing a login, or failed to within the last ten minutes. */
    isRenewing: (ctx: Context, login: string): boolean => findPending(ctx).some(({ renews }) => renews === login),
    /** Makes `hasFinished` false, so that a login that the person asks for can begin at once. */
    forgetFinished: cookies.forgetFinished,
    /** Forgets all logins that this browser has begun or finished. */
    forget: cookies.forget,
  };
}
