import { RelayError } from '../failures/relay-error.ts';
import type { Query } from './query.ts';

/**
 * Scopes that concern only the relay and the provider. Front ends get no ID token, and their libraries fail if a
 * response names `openid` without one. Refresh tokens are the relay's own.
 *
 * @see OpenID Connect Core §3.1.2.1 and §11
 */
const ownWords: ReadonlySet<string> = new Set(['openid', 'offline_access']);

/** The part of a granted scope that a front end is told. @returns undefined if nothing is left, or nothing is known */
export function scopeForFrontEnd(granted: string | undefined): string | undefined {
  const words = granted?.split(' ').filter((word) => !ownWords.has(word)) ?? [];
  return words.length === 0 ? undefined : words.join(' ');
}

/**
 * The scope to request from the provider for a part of a scope. It keeps `openid`, because an OpenID provider would
 * refuse the user lookup without it.
 *
 * @param requested words of `whole`
 */
export function scopeForProvider(requested: readonly string[], whole: readonly string[]): string {
  return whole.filter((word) => ownWords.has(word) || requested.includes(word)).join(' ');
}

/**
 * The words of a granted scope beyond the configured one.
 *
 * @param configured undefined if the provider decides what it grants, so that no word is beyond
 */
export function scopeBeyond(granted?: string, configured?: string): readonly string[] {
  if (granted === undefined || configured === undefined) return [];
  const asked = wordsOf(configured);
  return wordsOf(granted).filter((word) => !ownWords.has(word) && !asked.some((one) => isSameScope(one, word)));
}

/** Entra and Google grant URLs in place of the short names that were requested. */
function isSameScope(one: string, other: string): boolean {
  const first = one.toLowerCase();
  const second = other.toLowerCase();
  const areUrls = isUrl.test(first) && isUrl.test(second);
  return areUrls ? first === second : shortName(first) === shortName(second);
}

const isUrl = /^https:\/\/.*\/(?=.)/;
const shortName = (word: string) => word.replace(isUrl, '').replace(/^userinfo\./, '');

/** A scope in the form of the provider's requests. @param separator replaces the spaces */
export function scopeInRequest(scope: string | undefined, separator = ' '): string | undefined {
  return separator === ' ' ? scope : scope?.replaceAll(' ', separator);
}

/**
 * The scope of an OAuth request, which narrows the configured one.
 *
 * @returns undefined if the request has none
 * @throws {RelayError} `scope_refused` if it requests more
 * @see RFC 6749 §3.3
 */
export function narrowScope({ scope }: Query, configured?: string): string | undefined {
  if (scope === undefined || scope === '') return undefined;
  return requirePart(configured?.split(' ') ?? [], scope);
}

/** A requested scope without the words of another one, such as a resource's. @returns undefined if nothing is left */
export function scopeWithout(requested: Query[string], other = ''): Query[string] {
  if (typeof requested !== 'string') return requested;
  const left = wordsOf(requested).filter((word) => !wordsOf(other).includes(word));
  return left.length === 0 ? undefined : left.join(' ');
}

/**
 * The words of the configured scope that a client requests, or all of it if the client requests none of its words. A
 * CMS requests the same scope at every site, and a program requests what it read in metadata.
 *
 * @param query `scope` has commas or spaces between its words
 */
export function scopeWithin({ scope }: Query, configured?: string): string | undefined {
  if (configured === undefined) return undefined;
  const asked = typeof scope === 'string' ? wordsOf(scope) : [];
  const allowed = configured.split(' ');
  const granted = allowed.filter((word) => asked.includes(word));
  return granted.length === 0 ? configured : scopeForProvider(granted, allowed);
}

/**
 * The scope that a refresh requests from the provider.
 *
 * @param requested by the front end
 * @param granted the scope of the login, in which some providers write commas
 * @param isLenient whether a front end that requests more gets the part that it has, as at the start of its login
 * @returns undefined if the front end requests the whole scope
 * @throws {RelayError} `scope_refused` if it requests more
 * @see RFC 6749 §6
 */
export function narrowScopeOfRefresh(requested?: string, granted?: string, isLenient = false): string | undefined {
  if (requested === undefined) return undefined;
  const all = granted?.split(/[ ,]+/) ?? [];
  const scope = isLenient
    ? scopeWithin({ scope: requested }, granted && all.join(' '))
    : requirePart(all, requested, 'The scope goes beyond what was granted.');
  return scope === all.join(' ') ? undefined : scope;
}

/** The {@link scopeForProvider} of a request. @throws {RelayError} `scope_refused` if it is not a part of `whole` */
function requirePart(whole: readonly string[], requested: Query[string], detail?: string): string {
  const words = typeof requested === 'string' ? requested.split(' ') : [];
  const isPart = words.length > 0 && words.every((word) => whole.includes(word));
  if (!isPart) throw new RelayError('scope_refused', { detail });
  return scopeForProvider(words, whole);
}

// Some providers write commas between the words.
const wordsOf = (scope: string) => scope.split(/[ ,]+/).filter((word) => word !== '');
