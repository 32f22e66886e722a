import type { Allow } from '../access/allow.ts';
import type { Identity, IdentityQuestion } from '../access/identity.ts';
import { RelayError } from '../failures/relay-error.ts';
import type { Secret } from '../sealing/secret.ts';

/** The longest lifetime of an access token, in seconds. */
export const longestLifetime = 86_400;

/** The longest lifetime of a browser's cookie, in seconds. */
export const longestBrowserLifetime = 604_800;

/** Times of browsers at a resource, in seconds. */
export interface BrowserTerms {
  /** How long a browser stays logged in. */
  readonly lifetime: number;
  /** Time after which the next page that the browser opens asks the provider again. */
  readonly renew: number;
}

/** A server without a login of its own, which the relay stands in front of. */
export interface Upstream {
  /** Replaces the identifier in the URL of a request. Either both end with a slash, or neither. */
  readonly url: string;
  readonly givesToken: boolean;
}

/**
 * An API, an MCP server or an application behind the login, for the people of one registration. The provider does not
 * know it. If it serves several registrations, there is one of these for each.
 *
 * @see RFC 8707
 */
export interface Resource {
  readonly name: string;
  /** Its identifier, as the file has it. */
  readonly url: string;
  /** The name of the registration whose users it serves here. */
  readonly registration: string;
  /** The names of all registrations whose users it serves, in the order in which people can choose them. */
  readonly registrations: readonly string[];
  /** Whether the ids of people begin with the name of their registration, as in `github:583231`. */
  readonly idsNameProvider: boolean;
  /**
   * What its tokens are bound to: the registration with its client and its provider, its identifier, and the form of
   * the ids, because an application must not take a person for another one after a reload that changes the form.
   */
  readonly audience: readonly string[];
  /** Restricts who of the people of its front ends may use it. Undefined if all may. */
  readonly allow: Allow | undefined;
  readonly identity: IdentityQuestion;
  /** The lifetime of its access tokens, in seconds. */
  readonly lifetime: number;
  /** The scope in the metadata for clients. */
  readonly scope: string | undefined;
  /** The current and the previous secret of the server that may introspect. Empty if none may. */
  readonly secrets: readonly Secret[];
  /** Undefined if requests to it do not pass through the relay. */
  readonly upstream: Upstream | undefined;
  /** Undefined if it opens to tokens only. */
  readonly browser: BrowserTerms | undefined;
}

/** Whether the server behind a resource gets the provider's token of its caller, and acts with it. */
export function actsAtProvider({ upstream }: Pick<Resource, 'upstream'>): boolean {
  return upstream?.givesToken === true;
}

/** The identity of a person as the resource gets it. With several providers, the id begins with its registration. */
export function identityAt(
  { idsNameProvider, registration }: Pick<Resource, 'idsNameProvider' | 'registration'>,
  identity: Identity,
): Identity {
  return idsNameProvider ? { ...identity, sub: `${registration}:${identity.sub}` } : identity;
}

/** The id at the provider of a person that a resource knows as `sub`. */
export function idAtProvider(
  { idsNameProvider, registration }: Pick<Resource, 'idsNameProvider' | 'registration'>,
  sub: string,
): string {
  return idsNameProvider ? sub.slice(registration.length + 1) : sub;
}

/**
 * Returns the form in which identifiers are compared. It ignores the case of scheme and host, the default port, and a
 * final slash.
 *
 * @returns undefined if the text is no URL
 */
export function toComparable(url: string): string | undefined {
  return URL.parse(url)?.href.replace(/\/$/, '');
}

function isSameResource(one: string, other: string): boolean {
  const comparableOne = toComparable(one);
  return comparableOne !== undefined && comparableOne === toComparable(other);
}

/**
 * The resource that a request names, or the only one if it names none.
 *
 * @param resources the resources of its front end at its registration
 * @param asked the identifier in the request
 * @throws {RelayError} `resource_refused`
 * @see RFC 8707 §2
 */
export function requireResource<One extends Pick<Resource, 'url'>>(
  resources: readonly One[],
  asked: string | undefined,
): One {
  const candidates = resources.filter(({ url }) => asked === undefined || isSameResource(url, asked));
  const [found, second] = candidates;
  if (found === undefined || second !== undefined) throw new RelayError('resource_refused');
  return found;
}

/**
 * The resource that a login is for, as its code or refresh token says.
 *
 * @param asked the resource that the request names, which must be the same
 * @returns undefined if the login is for the provider's API
 * @throws {RelayError} `grant_invalid` or `resource_refused`, also if a reload has changed the resources of the front
 *   end
 */
export function requireResourceOfLogin<One extends Pick<Resource, 'url'>>(
  { resources }: { readonly resources: readonly One[] },
  { ownResource }: { readonly ownResource?: string | undefined },
  asked: string | undefined,
): One | undefined {
  // A front end with resources never gets the provider's token.
  if (ownResource === undefined && resources.length > 0) throw new RelayError('grant_invalid');
  if (ownResource === undefined) return undefined;
  if (asked !== undefined && !isSameResource(ownResource, asked)) {
    throw new RelayError('resource_refused');
  }
  return requireResource(resources, ownResource);
}
