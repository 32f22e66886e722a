import { hashClient } from '../clients/client-ids.ts';
import type { Clients, FoundClient } from '../clients/clients.ts';
import type { Clock } from '../clock.ts';
import type { Pages } from '../delivery/pages.ts';
import { RelayError } from '../failures/relay-error.ts';
import type { Grants } from '../grants/grants.ts';
import { type Context, claimedQuery } from '../http/context.ts';
import { expectNavigation } from '../http/request-guards.ts';
import type { AddressLimits } from '../login/address-limits.ts';
import type { LoginProtection, PeekLogin } from '../login/protection.ts';
import type { Registration, RegistrationSource } from '../login/registration.ts';
import type { LoginState } from '../login/state.ts';
import { matchesAny } from '../origins/origin-pattern.ts';
import { withAnyPort } from '../origins/redirect-uri.ts';
import { namesInPath } from '../paths.ts';
import type { Door } from '../resources/door.ts';
import type { FrontEnd } from './front-end.ts';

/** A registration with all that its routes need. */
export interface Served {
  readonly registration: RegistrationSource;
  readonly frontEnds: FrontEnds;
  readonly grants: Grants;
  readonly peekLogin: PeekLogin;
  /** The doors of its resources. */
  readonly doors: readonly Door[];
  readonly limits: Pick<AddressLimits, 'countWrongSecret'>;
  /** Ask people before clients log in that nobody registered. */
  readonly questions: LoginProtection;
  /** The relay's name in `iss`, and the public address of its endpoints. @see RFC 8414 §2, RFC 9207 §2 */
  readonly issuer: string;
  readonly now: Clock;
  readonly pages: Pages;
}

/** A front end at a registration with its present provider: where a person logs in. */
export interface Place extends Omit<Served, 'registration'> {
  readonly registration: Registration;
  readonly frontEnd: FrontEnd;
}

/** The front ends that may use one registration, and which of them a request is of. */
export type FrontEnds = ReturnType<typeof createFrontEnds>;

/** @param all as configured, in order. @param clients those that have no entry of their own */
export function createFrontEnds(all: readonly [FrontEnd, ...FrontEnd[]], clients?: Clients) {
  const isMachine = ({ kind }: FrontEnd) => kind === 'machine';
  // A machine shows nothing to people.
  const first = all.find((one) => !isMachine(one)) ?? all[0];
  const machines = new Map<unknown, FrontEnd>(all.filter(isMachine).map((one) => [one.name, one]));
  const grantTypes = [
    ...(isMachine(first) ? [] : ['authorization_code']),
    ...(all.some(({ refreshPolicy }) => refreshPolicy) ? ['refresh_token'] : []),
    ...(machines.size > 0 ? ['client_credentials'] : []),
  ];
  const origins = new Set(all.flatMap((frontEnd) => frontEnd.origins));
  const byName = new Map<unknown, FrontEnd>(all.map((frontEnd) => [frontEnd.name, frontEnd]));
  const firstOf = (...deliveries: FrontEnd['tokenDelivery'][]) =>
    all.find(({ tokenDelivery }) => deliveries.includes(tokenDelivery));
  const firstCms = firstOf('cms');
  const byDefault = firstOf('query', 'fragment', 'session') ?? firstCms ?? first;
  const isOnlyOne = all.length === 1;
  const [firstForOAuth, ...othersForOAuth] = all.filter(({ takesOAuth }) => takesOAuth);
  const onlyForOAuth = othersForOAuth.length > 0 ? undefined : firstForOAuth;

  /** The front end that a start names by its path or its `client_id`. @returns undefined if it names none */
  function named(ctx: Context): { readonly found: FrontEnd | undefined } | undefined {
    const inPath = namesInPath(ctx.path).below;
    const { client_id: name = inPath } = claimedQuery(ctx);
    if (name === undefined) return undefined;
    const isContradiction = inPath !== undefined && name !== inPath;
    return { found: isContradiction ? undefined : byName.get(name) };
  }

  /** The front end for a client that has no entry of its own. */
  function ofFound(found: FoundClient | undefined): FrontEnd | undefined {
    if (found === undefined) return undefined;
    const { id, redirectUris, vouchedBy } = found.client;
    const frontEnd = byName.get(found.frontEnd);
    return frontEnd?.forClient(hashClient(id), redirectUris, vouchedBy === 'operator');
  }

  /**
   * The front end of a start that is no OAuth request: the one in the path, the one that `client_id` names, the first
   * CMS if a CMS asks, or the default.
   *
   * @returns undefined if the start names no front end of these
   */
  function findForPlainStart(ctx: Context): FrontEnd | undefined {
    // Nothing is to choose, and the contract's start ignores parameters that it does not know, such as client_id.
    if (isOnlyOne) return byDefault;
    const asked = named(ctx);
    if (asked !== undefined) return asked.found;
    // Sveltia CMS refreshes where it starts, but without the query. Only CMSes send POST here.
    const isOfCms = ctx.method === 'POST' || claimedQuery(ctx)['site_id'] !== undefined;
    return (isOfCms ? firstCms : undefined) ?? byDefault;
  }

  return {
    /** The first one. It answers failures if no front end is known. */
    first,
    /** The front end of starts and callbacks that name none: the first one that takes plain logins, if any. */
    byDefault,
    /** The front end of starts by a CMS that name none: the first CMS, if there is one. */
    firstCms,
    /** The grants that the token endpoint serves. */
    grantTypes,
    /** The front ends that are machines. */
    machines: [...machines.values()],
    findMachine: (name: string | undefined): FrontEnd | undefined => machines.get(name),
    isOnlyOne,
    origins,
    /** Whether requests with this `Origin` come from one of them. */
    hasOrigin: matchesAny(origins),
    /** Whether requests may also come from other pages, until their client is known. They bring no cookies. */
    areAnywhere: clients?.areAnywhere === true,
    clients,
    names: all.map(({ name }) => name),
    /** The front end of a login. @returns undefined if it is gone */
    findForLogin({ frontEnd: name, request: { oauth } }: LoginState): FrontEnd | undefined {
      const frontEnd = byName.get(name);
      if (oauth?.client === undefined) return frontEnd;
      return frontEnd?.forClient(oauth.client, [oauth.redirectUri], false);
    },
    /**
     * The front end that a `client_id` names, or one for a client that has no entry of its own.
     *
     * @param redirectUriOf gives the redirect URI of the login that a request is for: the document of a client may have
     *   changed since
     * @throws {RelayError} `client_id_wrong` or `client_expired`
     */
    requireForClient(
      id: string,
      redirectUriOf: (frontEnd: FrontEnd) => string | undefined,
      evenIfExpired = false,
    ): FrontEnd {
      const known = byName.get(id) ?? ofFound(clients?.heldBy(id, evenIfExpired));
      if (known !== undefined) return known;
      const frontEnd = byName.get(clients?.frontEndOfDocument(id) ?? '');
      if (frontEnd === undefined) throw new RelayError('client_id_wrong');
      const uri = redirectUriOf(frontEnd.forClient(hashClient(id), [], false));
      const redirectUris = uri === undefined ? [] : [withAnyPort(uri)];
      return frontEnd.forClient(hashClient(id), redirectUris, false);
    },
    /**
     * The front end of an OAuth request: its `client_id`, the front end in the path, or the only one that takes
     * OAuth requests. Or one for a client that has no entry of its own, and so no path.
     *
     * @throws {RelayError} `client_expired`, or why the document of the client cannot be used
     * @see RFC 6749 §4.1.1
     */
    async findForOAuthStart(ctx: Context) {
      const asked = named(ctx);
      const { client_id: id } = claimedQuery(ctx);
      const frontEnd = asked ? asked.found : onlyForOAuth;
      const mayBeClient = frontEnd === undefined && namesInPath(ctx.path).below === undefined;
      if (!mayBeClient || typeof id !== 'string') return { frontEnd, client: undefined };
      const found = await clients?.find(id, ctx.req, () => expectNavigation(ctx));
      return { frontEnd: ofFound(found), client: found?.client };
    },
    findForPlainStart,
    /** The CMS that starts its logins at this address, and gets refresh tokens. */
    findCmsToRefresh(ctx: Context): FrontEnd | undefined {
      const frontEnd = findForPlainStart(ctx);
      return frontEnd?.cmsBackend && frontEnd.refreshPolicy ? frontEnd : undefined;
    },
  };
}
