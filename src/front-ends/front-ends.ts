import { hashClient } from '../clients/client-ids.ts';
import type { Clients, FoundClient } from '../clients/clients.ts';
import type { Clock } from '../clock.ts';
import type { Pages } from '../delivery/pages.ts';
import { RelayError } from '../failures/relay-error.ts';
import type { Grants } from '../grants/grants.ts';
import { type Context, truncatedQuery } from '../http/context.ts';
import { expectNavigation } from '../http/request-guards.ts';
import type { AddressLimits } from '../login/address-limits.ts';
import type { Registration, RegistrationSource } from '../login/registration.ts';
import type { LoginState } from '../login/state.ts';
import type { LoginProtection, PeekLogin } from '../login/state-check.ts';
import { createOriginMatcher } from '../origins/origin-pattern.ts';
import { withAnyPort } from '../origins/redirect-uri.ts';
import { namesInPath } from '../paths.ts';
import type { Door } from '../resources/door.ts';
import type { FrontEnd } from './front-end.ts';

/** A registration as it is served at one of its paths. Its provider may not have been discovered yet. */
export interface Served {
  readonly registration: RegistrationSource;
  readonly frontEnds: FrontEnds;
  readonly grants: Grants;
  readonly peekLogin: PeekLogin;
  readonly doors: readonly Door[];
  readonly limits: Pick<AddressLimits, 'countWrongSecret'>;
  /** Proves that an answer about an unregistered client comes from the browser that was asked. */
  readonly questions: LoginProtection;
  /** The relay's name in `iss`, and the address of its endpoints. @see RFC 8414 §2, RFC 9207 §2 */
  readonly issuer: string;
  readonly now: Clock;
  readonly pages: Pages;
}

/** A front end at a registration whose provider is known. */
export interface Place extends Omit<Served, 'registration'> {
  readonly registration: Registration;
  readonly frontEnd: FrontEnd;
}

export type FrontEnds = ReturnType<typeof createFrontEnds>;

/**
 * Finds the front end of a request among the front ends of one registration.
 *
 * @param all the front ends in the order of the configuration
 * @param clients the unregistered clients of these front ends
 * @param doors the relay itself, as the front end that logs in the browsers of a resource. No request can name it
 */
export function createFrontEnds(all: readonly FrontEnd[], clients?: Clients, doors: readonly FrontEnd[] = []) {
  const machines = new Map<unknown, FrontEnd>(all.filter(isMachine).map((one) => [one.name, one]));
  const origins = new Set(all.flatMap((frontEnd) => frontEnd.origins));
  const byName = new Map<unknown, FrontEnd>(all.map((frontEnd) => [frontEnd.name, frontEnd]));
  const doorsByName = new Map<unknown, FrontEnd>(doors.map((door) => [door.name, door]));
  const defaults = chooseDefaults(all, doors);
  const { first, byDefault, firstCms } = defaults;

  return {
    first,
    byDefault,
    firstCms,
    grantTypes: grantTypesOf(all),
    machines: [...machines.values()],
    findMachine: (name: string | undefined): FrontEnd | undefined => machines.get(name),
    isOnlyOne: all.length === 1,
    origins,
    hasOrigin: createOriginMatcher(origins),
    /** Whether pages of any origin may send requests, without cookies, until their client is known. */
    takesAnyOrigin: clients?.takesAnyOrigin === true,
    clients,
    names: all.map(({ name }) => name),
    /** The front end of a login. @returns undefined if a reload has removed it */
    findForLogin({ frontEnd: name, request: { oauth, door } }: LoginState): FrontEnd | undefined {
      if (door !== undefined) return doorsByName.get(name);
      const frontEnd = byName.get(name);
      if (oauth?.client === undefined) return frontEnd;
      // A login needs the redirect URI of its client only, and no refresh token is issued here.
      return frontEnd?.forClient(oauth.client, [oauth.redirectUri], false);
    },
    /**
     * The front end of a `client_id`, which may be the identifier of an unregistered client.
     *
     * @param redirectUriOf reads the redirect URI from the code or token in the request. The document of a client is
     *   not asked, because it may have changed since the login
     * @throws {RelayError} `client_id_wrong` or `client_expired`
     */
    requireForClient(
      id: string,
      redirectUriOf: (frontEnd: FrontEnd) => string | undefined,
      evenIfExpired = false,
    ): FrontEnd {
      const known = byName.get(id) ?? frontEndOfClient(byName, clients?.findSealed(id, evenIfExpired));
      if (known !== undefined) return known;
      const frontEnd = byName.get(clients?.frontEndOfDocument(id) ?? '');
      if (frontEnd === undefined) throw new RelayError('client_id_wrong');
      const uri = redirectUriOf(frontEnd.forClient(hashClient(id), [], false));
      const redirectUris = uri === undefined ? [] : [withAnyPort(uri)];
      return frontEnd.forClient(hashClient(id), redirectUris, false);
    },
    ...createStartFinders(all, byName, defaults, clients),
  };
}

type ByName = ReadonlyMap<unknown, FrontEnd>;

/** Creates the functions that find the front end of a start: of an OAuth request, of a plain start, or of a CMS. */
function createStartFinders(
  all: readonly FrontEnd[],
  byName: ByName,
  { byDefault, firstCms, onlyForOAuth }: ReturnType<typeof chooseDefaults>,
  clients: Clients | undefined,
) {
  /**
   * Finds the front end that the path or `client_id` names.
   *
   * @returns undefined if the start names none. `found` is undefined if there is no such front end
   */
  function findNamed(ctx: Context): { readonly found: FrontEnd | undefined } | undefined {
    const inPath = namesInPath(ctx.path).below;
    const { client_id: name = inPath } = truncatedQuery(ctx);
    if (name === undefined) return undefined;
    const isContradiction = inPath !== undefined && name !== inPath;
    return { found: isContradiction ? undefined : byName.get(name) };
  }

  /**
   * The front end of a start without OAuth: the front end that the path or `client_id` names, the first CMS if a CMS
   * asks, or else the default.
   *
   * @returns undefined if the start names no front end of this registration
   */
  function findForPlainStart(ctx: Context): FrontEnd | undefined {
    if (all.length === 0) return undefined;
    // By the contract, a start ignores parameters that it does not know, so a wrong client_id must not matter here.
    if (all.length === 1) return byDefault;
    const named = findNamed(ctx);
    if (named !== undefined) return named.found;
    // Sveltia CMS refreshes where it starts, but without the query. Only CMSes send POST here.
    const isOfCms = ctx.method === 'POST' || truncatedQuery(ctx)['site_id'] !== undefined;
    return (isOfCms ? firstCms : undefined) ?? byDefault;
  }

  return {
    /**
     * The front end of an OAuth start: by `client_id`, by the path, or the only one with OAuth logins. An unregistered
     * client has no path.
     *
     * @throws {RelayError} `client_expired`, or why the document of the client cannot be used
     * @see RFC 6749 §4.1.1
     */
    async findForOAuthStart(ctx: Context) {
      const named = findNamed(ctx);
      const { client_id: id } = truncatedQuery(ctx);
      const frontEnd = named ? named.found : onlyForOAuth;
      const mayBeClient = frontEnd === undefined && namesInPath(ctx.path).below === undefined;
      if (!mayBeClient || typeof id !== 'string') return { frontEnd, client: undefined };
      const found = await clients?.find(id, ctx.req, () => expectNavigation(ctx));
      return { frontEnd: frontEndOfClient(byName, found), client: found?.client };
    },
    findForPlainStart,
    /** The CMS at this address, if it gets refresh tokens. */
    findCmsToRefresh(ctx: Context): FrontEnd | undefined {
      const frontEnd = findForPlainStart(ctx);
      return frontEnd?.cmsBackend && frontEnd.refreshPolicy ? frontEnd : undefined;
    },
  };
}

/** The front end that admits a client without an entry of its own, as `forClient` adapts it to this client. */
function frontEndOfClient(byName: ByName, found: FoundClient | undefined): FrontEnd | undefined {
  if (found === undefined) return undefined;
  const { id, redirectUris, vouchedBy } = found.client;
  const frontEnd = byName.get(found.frontEnd);
  const operatorVouches = vouchedBy === 'operator';
  return frontEnd?.forClient(hashClient(id), redirectUris, operatorVouches);
}

const isMachine = ({ kind }: FrontEnd) => kind === 'machine';

/** Chooses the front ends of requests that name none. */
function chooseDefaults(all: readonly FrontEnd[], doors: readonly FrontEnd[]) {
  const firstOf = (...deliveries: FrontEnd['tokenDelivery'][]) =>
    all.find(({ tokenDelivery }) => deliveries.includes(tokenDelivery));
  // A machine has no pages that could answer people.
  const first = all.find((one) => !isMachine(one)) ?? doors[0] ?? all[0];
  if (first === undefined) throw new Error('nobody logs in here');
  const firstCms = firstOf('cms');
  const [firstForOAuth, ...othersForOAuth] = all.filter(({ takesOAuth }) => takesOAuth);
  return {
    /** Answers failures while no front end is known. */
    first,
    /** Gets the starts of a CMS. */
    firstCms,
    /** Gets plain starts and callbacks: the first front end with plain logins. */
    byDefault: firstOf('query', 'fragment', 'session') ?? firstCms ?? first,
    /** Gets OAuth starts; undefined unless exactly one front end takes them. */
    onlyForOAuth: othersForOAuth.length > 0 ? undefined : firstForOAuth,
  };
}

/** The values of `grant_type` that at least one front end may use. */
function grantTypesOf(all: readonly FrontEnd[]): readonly string[] {
  const types: string[] = [];
  if (!all.every(isMachine)) types.push('authorization_code');
  if (all.some(({ refreshPolicy }) => refreshPolicy)) types.push('refresh_token');
  if (all.some(isMachine)) types.push('client_credentials');
  return types;
}
