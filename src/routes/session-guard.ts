import type { IncomingHttpHeaders } from 'node:http';
import { RelayError } from '../errors.ts';
import { type Context, readQuery } from '../http/context.ts';
import { forbidReading } from '../http/cors.ts';

/** A front end that has sessions. */
export interface SessionFrontEnd {
  readonly name: string;
  readonly origin: string;
}

/**
 * Lets only the page of a front end use its session. Browsers send cookies with requests of other pages
 * too, but a page of another origin cannot add the header without a preflight, which it does not pass.
 *
 * @see RFC 10017 §6.1.3.3
 */
export type SessionGuard = ReturnType<typeof createSessionGuard>;

/** @param baseUrl the relay's public address */
export function createSessionGuard(baseUrl: string, frontEnds: readonly SessionFrontEnd[]) {
  const base = new URL(baseUrl);
  const byName = new Map(frontEnds.map((frontEnd) => [frontEnd.name, frontEnd]));
  const byOrigin = Map.groupBy(frontEnds, ({ origin }) => origin);

  function select(
    ctx: Context,
    origin: string | undefined,
    name: string | undefined,
  ): SessionFrontEnd {
    const named = name ?? readQuery(ctx)['client_id'];
    if (named !== undefined) {
      const found = typeof named === 'string' ? byName.get(named) : undefined;
      if (found === undefined) throw new RelayError('client_unknown');
      return found;
    }
    const [only, ...others] = origin === undefined ? frontEnds : (byOrigin.get(origin) ?? []);
    if (only === undefined) throw new RelayError('origin_foreign');
    if (others.length > 0) throw new RelayError('client_unknown', { detail: ambiguous });
    return only;
  }

  return {
    /**
     * The front end that a request is for: the one that `client_id` names, else the only one with the
     * origin of the request's page, else the only one.
     *
     * @param name that of the front end, if the path decides it
     * @throws {RelayError} `cross_site_refused`, `host_foreign`, `origin_foreign`, `client_unknown` or
     *   `request_header_missing`
     */
    pass(ctx: Context, name?: string): SessionFrontEnd {
      const { headers } = ctx.req;
      const { host } = headers;
      if (headers['sec-fetch-site'] === 'cross-site') throw new RelayError('cross_site_refused');
      // Otherwise a name that an attacker points to this machine would be the page's own.
      if (!isHost(host, base)) throw new RelayError('host_foreign');
      const origin = originOfPage(headers, base);
      const frontEnd = select(ctx, origin, name);
      ctx.state.frontEnd = frontEnd.name;
      if (origin !== undefined && origin !== frontEnd.origin) {
        forbidReading(ctx);
        throw new RelayError('origin_foreign');
      }
      if (headers['x-login-relay'] !== '1') throw new RelayError('request_header_missing');
      return frontEnd;
    },
    /** Whether an origin is that of a front end with sessions. */
    hasOrigin: (origin: string): boolean => byOrigin.has(origin),
  };
}

const ambiguous =
  'This relay has several front ends with sessions: name one by the parameter client_id.';

/**
 * The origin of the page that sends a request.
 *
 * @param base the relay's public address
 * @returns undefined if the request does not tell, such as that of a program
 */
export function originOfPage(headers: IncomingHttpHeaders, base: URL): string | undefined {
  const { origin, 'sec-fetch-site': site } = headers;
  // A page that reads from its own origin sends no Origin. The relay's may have other pages than the front end's.
  return origin ?? (site === 'same-origin' ? base.origin : undefined);
}

/** Whether a Host header names the host of an address. Some proxies leave out the port. */
function isHost(host: string | undefined, base: URL): boolean {
  if (host === undefined) return false;
  // Most requests need no parsing.
  return host === base.host || URL.parse(`${base.protocol}//${host}`)?.hostname === base.hostname;
}
