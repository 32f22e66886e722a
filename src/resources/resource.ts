import type { Allow } from '../access/allow.ts';
import type { IdentityQuestion } from '../access/identity.ts';
import { RelayError } from '../failures/relay-error.ts';
import type { Secret } from '../sealing/secret.ts';

/** Seconds for which an access token can be good at most. */
export const longestLifetime = 86_400;

/** Seconds for which the cookie of a browser can be good at most. */
export const longestBrowserLifetime = 604_800;

/** How long browsers stay logged in, in seconds. */
export interface BrowserTerms {
  /** From the login on. */
  readonly lifetime: number;
  /** After this time, the next page asks the provider again. */
  readonly renew: number;
}

/** A server without a login of its own, which the relay stands in front of. */
export interface Upstream {
  /** The URL that replaces the identifier. Either both end with a slash, or neither. */
  readonly url: string;
  /** Whether it gets the provider's access token. */
  readonly givesToken: boolean;
}

/** Something behind the login that is not the provider's: an API, an MCP server. @see RFC 8707 */
export interface Resource {
  readonly name: string;
  /** Its identifier, as the file has it. */
  readonly url: string;
  /** The name of the registration whose users it serves. */
  readonly registration: string;
  /** What its tokens are bound to: the registration with its client and its provider, and its identifier. */
  readonly audience: readonly string[];
  /** Who may use it, of those who may log in at its front ends. Undefined: all of them. */
  readonly allow: Allow | undefined;
  /** What it learns of a person. */
  readonly identity: IdentityQuestion;
  /** Seconds for which an access token is good. */
  readonly lifetime: number;
  /** The scope in the metadata for clients. */
  readonly scope: string | undefined;
  /** The current and the previous secret of the server that introspects. Empty: no server may introspect. */
  readonly secrets: readonly Secret[];
  /** Undefined: requests to it do not pass the relay. */
  readonly upstream: Upstream | undefined;
  /** Undefined: it opens to no browser. */
  readonly browser: BrowserTerms | undefined;
}

/** Whether the server behind a resource acts with the provider's token of whoever calls it. */
export function actsAtProvider({ upstream }: Pick<Resource, 'upstream'>): boolean {
  return upstream?.givesToken === true;
}

/** Identifiers are compared in this form: case of scheme and host, default port and one final slash are ignored. */
export function comparable(url: string): string | undefined {
  return URL.parse(url)?.href.replace(/\/$/, '');
}

/** Whether two texts identify the same resource. */
function isSameResource(one: string, other: string): boolean {
  const known = comparable(one);
  return known !== undefined && known === comparable(other);
}

/**
 * The resource that a request means.
 *
 * @param resources those of its front end at its registration
 * @param asked undefined: the only one
 * @throws {RelayError} `resource_refused`
 * @see RFC 8707 §2
 */
export function requireResource<One extends Pick<Resource, 'url'>>(
  resources: readonly One[],
  asked: string | undefined,
): One {
  const fitting = resources.filter(({ url }) => asked === undefined || isSameResource(url, asked));
  const [found, second] = fitting;
  if (found === undefined || second !== undefined) throw new RelayError('resource_refused');
  return found;
}

/**
 * The resource of a login.
 *
 * @param asked the resource that the request itself names
 * @returns undefined: the login gives the provider's token
 * @throws {RelayError} `grant_invalid` or `resource_refused` if a reload has changed what its front end gets
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
