import type { IncomingHttpHeaders } from 'node:http';
import type { Allow } from '../access/allow.ts';
import type { Clock } from '../clock.ts';
import { abbreviateInput, RelayError } from '../failures/relay-error.ts';
import { type Context, readQuery } from '../http/context.ts';
import type { Registration, RegistrationSource } from '../login/registration.ts';
import { isCredential } from '../oauth/authorization-header.ts';
import type { Query } from '../oauth/query.ts';
import type { SessionContent, Sessions } from '../session/sessions.ts';
import { expectOrigin } from './front-end-endpoint.ts';

interface SessionFrontEnd {
  readonly name: string;
  readonly origin: string | undefined;
  /** Undefined if everybody may log in. */
  readonly allow: Allow | undefined;
}

/** A session that a request may use, with its registration and front end. */
export interface OpenSession {
  readonly session: SessionContent;
  readonly registration: Registration;
  readonly frontEnd: SessionFrontEnd;
}

/**
 * Seconds after which a session must be refreshed if `allow` restricts who may log in, so that the provider is asked.
 */
const longestUnasked = 3600;

const ambiguousDetail = 'This relay has several front ends with sessions: name one by the parameter client_id.';

const sessionlessDetail =
  'No front end of this name has sessions. Without them, leave out mode: "session" in the browser client.';

/** Answers requests for sessions if no front end has them. @throws {RelayError} `client_unknown` */
export function refuseSessions(): never {
  throw new RelayError('client_unknown', { detail: sessionlessDetail });
}

export type SessionRequests = ReturnType<typeof createSessionRequests>;

/**
 * Finds the front end, the session and the registration of a request, and refuses the pages of others.
 *
 * @param baseUrl the relay's public address
 */
export function createSessionRequests(
  sessions: Sessions,
  baseUrl: string,
  frontEnds: readonly SessionFrontEnd[],
  registrations: readonly RegistrationSource[],
  now: Clock,
) {
  const base = new URL(baseUrl);
  const finder = createFrontEndFinder(frontEnds);
  const registrationsByName = new Map(registrations.map((one) => [one.name, one]));

  /**
   * Finds the front end of a request: the front end that `client_id` names, or else the only front end of the page's
   * origin, or without an origin the only front end with sessions.
   *
   * Only its own page passes. This prevents CSRF, because browsers attach cookies to requests of other pages, but a
   * page of another origin cannot send the required header without a preflight, which the relay refuses to it.
   *
   * @param name the name of the front end, if the path decides it
   * @throws {RelayError} `cross_site_refused`, `host_foreign`, `origin_foreign`, `client_unknown` or
   *   `request_header_missing`
   * @see RFC 10017 §6.1.3.3
   */
  function requireFrontEnd(ctx: Context, name?: string): SessionFrontEnd {
    const { headers } = ctx.req;
    if (headers['sec-fetch-site'] === 'cross-site') throw new RelayError('cross_site_refused');
    // Prevents DNS rebinding. An attacker may point a name of their own at this machine, so that their page has the
    // same origin as the relay.
    if (!namesHost(headers.host, base)) throw new RelayError('host_foreign');
    const origin = originOfPage(headers, base);
    const frontEnd = finder.require(name ?? readQuery(ctx)['client_id'], origin);
    ctx.state.frontEnd = frontEnd.name;
    if (origin !== undefined) expectOrigin(ctx, origin === frontEnd.origin);
    if (headers['x-login-relay'] !== '1') throw new RelayError('request_header_missing');
    return frontEnd;
  }

  /**
   * The registration of a session; undefined if its provider or client has changed since.
   *
   * @throws {RelayError} `provider_undiscovered` or `provider_unsupported` if no provider is known
   */
  function findRegistration({ registration, audience }: SessionContent): Registration | undefined {
    const found = registrationsByName.get(registration)?.current();
    return found?.audience === audience ? found : undefined;
  }

  /**
   * Seconds for which a session can be used without a refresh; Infinity if the end of its access token is not known.
   */
  function secondsLeft({ session, registration, frontEnd }: OpenSession): number {
    const { accessTokenEndsAt: end = Number.POSITIVE_INFINITY, renewedAt = 0 } = session;
    const isRestricted = registration.allow !== undefined || frontEnd.allow !== undefined;
    const usedUntil = isRestricted ? Math.min(end, renewedAt + longestUnasked) : end;
    return Math.max(0, usedUntil - now() / 1000);
  }

  return {
    sessions,
    requireFrontEnd,
    findRegistration,
    secondsLeft,
    hasOrigin: finder.hasOrigin,
    /**
     * Opens the session of a request, which must come from the page of the session's front end.
     *
     * @param name the name of the front end, if the path decides it
     * @throws {RelayError} `session_missing`, and as `requireFrontEnd` and `findRegistration` do
     */
    async openSession(ctx: Context, name?: string): Promise<OpenSession> {
      const frontEnd = requireFrontEnd(ctx, name);
      const session = await sessions.read(ctx, frontEnd.name);
      const registration = session && findRegistration(session);
      if (session === undefined || registration === undefined) {
        throw new RelayError('session_missing');
      }
      ctx.state.registration = registration.name;
      return { session, registration, frontEnd };
    },
    /**
     * The access token of a session.
     *
     * @throws {RelayError} `session_token_expired`, or `token_malformed` if it does not fit into a header
     */
    requireToken(opened: OpenSession): string {
      const { accessToken } = opened.session;
      if (secondsLeft(opened) === 0) throw new RelayError('session_token_expired');
      if (!isCredential(accessToken)) throw new RelayError('token_malformed');
      return accessToken;
    },
  };
}

/** Creates functions that find a front end. @param frontEnds only those with sessions */
function createFrontEndFinder(frontEnds: readonly SessionFrontEnd[]) {
  const byName = new Map<unknown, SessionFrontEnd>(frontEnds.map((one) => [one.name, one]));
  const byOrigin = Map.groupBy(frontEnds, ({ origin }) => origin);
  return {
    hasOrigin: (origin: string): boolean => byOrigin.has(origin),
    /**
     * The front end that a request names. If it names none, the only front end at its origin, or without an origin the
     * only front end there is.
     *
     * @throws {RelayError} `client_unknown` or `origin_foreign`
     */
    require(named: Query[string], origin: string | undefined): SessionFrontEnd {
      if (named !== undefined) {
        const found = byName.get(named);
        if (found === undefined) {
          throw new RelayError('client_unknown', { detail: sessionlessDetail, asked: abbreviateInput(named) });
        }
        return found;
      }
      const candidates = origin === undefined ? frontEnds : byOrigin.get(origin);
      const [only, other] = candidates ?? [];
      if (only === undefined) throw new RelayError('origin_foreign');
      if (other !== undefined) throw new RelayError('client_unknown', { detail: ambiguousDetail });
      return only;
    },
  };
}

/**
 * The origin of the page that sends a request.
 *
 * @param base the relay's public address
 * @returns undefined if the request does not tell, for example because a program sends it
 */
export function originOfPage(headers: IncomingHttpHeaders, base: URL): string | undefined {
  const { origin, 'sec-fetch-site': site } = headers;
  // Browsers send no `Origin` with a GET to the page's own origin, which is the relay's here.
  return origin ?? (site === 'same-origin' ? base.origin : undefined);
}

/** Whether a Host header names the host of an address. The port is not compared, because some proxies leave it out. */
function namesHost(host: string | undefined, base: URL): boolean {
  if (host === undefined) return false;
  return host === base.host || URL.parse(`${base.protocol}//${host}`)?.hostname === base.hostname;
}
