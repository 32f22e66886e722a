import { type Client, keyOfClient } from '../clients/client.ts';
import type { Clients, FoundClient } from '../clients/clients.ts';
import type { FrontEnd } from '../delivery/front-end.ts';
import { RelayError } from '../errors.ts';
import { type Context, claimedQuery } from '../http/context.ts';
import type { LoginState } from '../login/state.ts';
import { matchesAny } from '../origins/origin-pattern.ts';
import { withAnyPort } from '../origins/schemas.ts';

/**
 * The front end that the path of a start names: `/auth/<registration>/<front end>`.
 *
 * @returns undefined if it names none
 */
export function frontEndInPath(path: string): string | undefined {
  return /^\/auth\/[^/]+\/([^/]+)$/.exec(path)?.[1];
}

/** The front ends that may use one registration, and which of them a request is of. */
export class FrontEnds {
  readonly #byName: ReadonlyMap<string, FrontEnd>;
  readonly #onlyForOAuth: FrontEnd | undefined;
  /** The first one. It answers failures if no front end is known. */
  readonly first: FrontEnd;
  /** The front end of starts and callbacks that name none: the first one that takes plain logins, if any. */
  readonly byDefault: FrontEnd;
  /** The front end of starts by a CMS that name none: the first CMS, if there is one. */
  readonly firstCms: FrontEnd | undefined;
  /** Whether one of them gets refresh tokens. */
  readonly refresh: boolean;
  /** Whether there is only one. */
  readonly isOnlyOne: boolean;
  /** Whether requests with this `Origin` come from one of them. */
  readonly hasOrigin: (origin: string) => boolean;

  /** Whether requests may also come from other pages, until their client is known. They bring no cookies. */
  readonly areAnywhere: boolean;
  readonly clients: Clients | undefined;

  /**
   * @param all in their order
   * @param clients those that have no entry of their own
   */
  constructor(all: readonly [FrontEnd, ...FrontEnd[]], clients?: Clients) {
    const firstOf = (...deliveries: FrontEnd['tokenDelivery'][]) =>
      all.find(({ tokenDelivery }) => deliveries.includes(tokenDelivery));
    const [firstForOAuth, secondForOAuth] = all.filter(({ takesOAuth }) => takesOAuth);
    this.#byName = new Map(all.map((frontEnd) => [frontEnd.name, frontEnd]));
    this.#onlyForOAuth = secondForOAuth ? undefined : firstForOAuth;
    this.first = all[0];
    this.firstCms = firstOf('cms');
    this.byDefault = firstOf('query', 'fragment', 'session') ?? this.firstCms ?? this.first;
    this.refresh = all.some(({ refreshPolicy }) => refreshPolicy !== undefined);
    this.isOnlyOne = all.length === 1;
    this.areAnywhere = clients?.areAnywhere === true;
    this.clients = clients;
    this.hasOrigin = matchesAny(all.flatMap(({ origins }) => origins));
  }

  /** The front end with this name. */
  find(name: string): FrontEnd | undefined {
    return this.#byName.get(name);
  }

  /**
   * The front end of a login.
   *
   * @returns undefined if it is gone
   */
  ofLogin({ frontEnd: name, request: { oauth } }: LoginState): FrontEnd | undefined {
    const frontEnd = this.find(name);
    if (oauth?.client === undefined) return frontEnd;
    return frontEnd?.forClient(oauth.client, [oauth.redirectUri], false);
  }

  /**
   * The front end that a `client_id` names, or one for a client that has no entry of its own.
   *
   * @param redirectUriOf gives the redirect URI of the login that a request is for: the document of a client may have
   *   changed since
   * @throws {RelayError} `client_id_wrong` or `client_expired`
   */
  ofClient(id: string, redirectUriOf: (frontEnd: FrontEnd) => string | undefined): FrontEnd {
    const known = this.find(id) ?? this.#forHeld(this.clients?.heldBy(id));
    if (known !== undefined) return known;
    const document = this.clients?.documentAt(id);
    const frontEnd = document && this.find(document.frontEnd);
    if (frontEnd === undefined) throw new RelayError('client_id_wrong');
    const uri = redirectUriOf(frontEnd.forClient(keyOfClient(id), [], false));
    const redirectUris = uri === undefined ? [] : [withAnyPort(uri)];
    return frontEnd.forClient(keyOfClient(id), redirectUris, false);
  }

  #forHeld(found: FoundClient | undefined): FrontEnd | undefined {
    if (found === undefined) return undefined;
    const { id, redirectUris, vouchedBy } = found.client;
    const frontEnd = this.find(found.frontEnd);
    return frontEnd?.forClient(keyOfClient(id), redirectUris, vouchedBy === 'operator');
  }

  /**
   * The front end of an OAuth request: its `client_id`, the front end in the path, or the only one that takes
   * OAuth requests. Or one for a client that has no entry of its own.
   *
   * @throws {RelayError} `client_unknown`, `client_expired`, or why the document of the client cannot be used
   * @see RFC 6749 §4.1.1
   */
  async ofOAuthStart(ctx: Context): Promise<{ frontEnd: FrontEnd; client?: Client | undefined }> {
    const asked = this.#named(ctx);
    const frontEnd = asked ? asked.found : this.#onlyForOAuth;
    const { client_id: id } = claimedQuery(ctx);
    if (frontEnd !== undefined || typeof id !== 'string')
      return { frontEnd: expectFound(frontEnd) };
    const found = this.clients?.heldBy(id) ?? (await this.#fetched(id, ctx));
    return { frontEnd: expectFound(this.#forHeld(found)), client: found?.client };
  }

  async #fetched(id: string, { req }: Context): Promise<FoundClient | undefined> {
    const document = this.clients?.documentAt(id);
    if (this.clients === undefined || document === undefined) return undefined;
    return { ...document, client: await this.clients.fetch(document.url, req) };
  }

  /**
   * The front end of any other start: the one in the path, the one that `client_id` names, the first CMS if
   * a CMS asks, or the default.
   *
   * @throws {RelayError} `client_unknown`
   */
  ofPlainStart(ctx: Context): FrontEnd {
    return expectFound(this.findForPlainStart(ctx));
  }

  /** The same; undefined if the start names no front end of these. */
  findForPlainStart(ctx: Context): FrontEnd | undefined {
    // The contract's start ignores parameters that it does not know, and there is nothing to choose.
    if (this.isOnlyOne) return this.byDefault;
    const asked = this.#named(ctx);
    if (asked !== undefined) return asked.found;
    // Sveltia CMS refreshes where it starts, but without the query.
    const isOfCms = ctx.method === 'POST' || claimedQuery(ctx)['site_id'] !== undefined;
    return (isOfCms ? this.firstCms : undefined) ?? this.byDefault;
  }

  /** The CMS that starts its logins at this address, and gets refresh tokens. */
  findCmsToRefresh(ctx: Context): FrontEnd | undefined {
    const frontEnd = this.findForPlainStart(ctx);
    const isRefreshed = frontEnd?.cmsBackend !== undefined && frontEnd.refreshPolicy !== undefined;
    return isRefreshed ? frontEnd : undefined;
  }

  /** The front end that a start names by its path or its `client_id`. @returns undefined if it names none */
  #named(ctx: Context) {
    const inPath = frontEndInPath(ctx.path);
    const { client_id: name = inPath } = claimedQuery(ctx);
    if (name === undefined) return undefined;
    const isOther = inPath !== undefined && name !== inPath;
    return { found: typeof name === 'string' && !isOther ? this.find(name) : undefined };
  }
}

function expectFound(frontEnd: FrontEnd | undefined): FrontEnd {
  if (frontEnd === undefined) throw new RelayError('client_unknown');
  return frontEnd;
}
