import { RelayError } from '../failures/relay-error.ts';
import type { Query } from './query.ts';

/**
 * Scopes that concern only the relay and the provider. Front ends get no ID token, and their libraries fail if a
 * response names `openid` without one. Refresh tokens are the relay's own.
 *
 * @see OpenID Connect Core §3.1.2.1 and §11
 */
const internalWords: ReadonlySet<string> = new Set(['openid', 'offline_access']);

/**
 * Finds the part of a granted scope that a front end learns.
 *
 * @param granted undefined if it is not known
 * @returns undefined if nothing is left, or nothing is known
 */
export function scopeForFrontEnd(granted: string | undefined): string | undefined {
  const words = granted?.split(' ').filter((word) => !internalWords.has(word)) ?? [];
  return words.length === 0 ? undefined : words.join(' ');
}

/**
 * Returns the scope to request from the provider if a front end requests only some words of a scope. It keeps `openid`
 * and `offline_access`, which front ends never learn of and so cannot request. Without `openid`, an OpenID provider
 * would refuse the user lookup, and without `offline_access`, it may give no refresh token.
 *
 * @param requested words of `whole`
 * @param whole the configured scope, or the scope of the login
 */
export function scopeForProvider(requested: readonly string[], whole: readonly string[]): string {
  return whole.filter((word) => internalWords.has(word) || requested.includes(word)).join(' ');
}

/**
 * Finds the words of a granted scope beyond the configured scope.
 *
 * @param configured undefined if the provider decides what it grants, so that no word is beyond it
 */
export function scopeBeyond(granted?: string, configured?: string): readonly string[] {
  if (granted === undefined || configured === undefined) return [];
  const configuredWords = splitScope(configured);
  const isConfigured = (word: string) => configuredWords.some((configuredWord) => isSameScope(configuredWord, word));
  return splitScope(granted).filter((word) => !internalWords.has(word) && !isConfigured(word));
}

/** Whether two words mean the same scope. Entra and Google grant URLs in place of the short names in a request. */
function isSameScope(left: string, right: string): boolean {
  const first = left.toLowerCase();
  const second = right.toLowerCase();
  const areUrls = urlForm.test(first) && urlForm.test(second);
  return areUrls ? first === second : shortName(first) === shortName(second);
}

const urlForm = /^https:\/\/.*\/(?=.)/;
/** The short name of a scope that is a URL: its last part, without the prefix of Google. */
const shortName = (word: string) => word.replace(urlForm, '').replace(/^userinfo\./, '');

/** Writes a scope as the provider's requests need it. @param separator replaces the spaces */
export function scopeInRequest(scope: string | undefined, separator = ' '): string | undefined {
  return separator === ' ' ? scope : scope?.replaceAll(' ', separator);
}

/**
 * Reads the scope of an OAuth request, which may be a part of the configured scope.
 *
 * @returns the scope to request from the provider; undefined if the request has no scope
 * @throws {RelayError} `scope_refused` if the request goes beyond the configured scope
 * @see RFC 6749 §3.3
 */
export function narrowScope({ scope }: Query, configured?: string): string | undefined {
  if (scope === undefined || scope === '') return undefined;
  return requirePart(configured?.split(' ') ?? [], scope);
}

/** Removes the words of another scope, such as a resource's, from a requested one. @returns undefined if none is left */
export function scopeWithout(requested: Query[string], removed = ''): Query[string] {
  if (typeof requested !== 'string') return requested;
  const left = splitScope(requested).filter((word) => !splitScope(removed).includes(word));
  return left.length === 0 ? undefined : left.join(' ');
}

/**
 * Returns the words of the configured scope that a client requests, or all of it if the client requests none of them.
 * So words beyond the scope are no error, because a CMS requests the same scope at every site, and a program requests
 * what it read in metadata.
 *
 * @param query `scope` has commas or spaces between its words
 */
export function scopeWithin({ scope }: Query, configured?: string): string | undefined {
  if (configured === undefined) return undefined;
  const requested = typeof scope === 'string' ? splitScope(scope) : [];
  const allowed = configured.split(' ');
  const granted = allowed.filter((word) => requested.includes(word));
  return granted.length === 0 ? configured : scopeForProvider(granted, allowed);
}

/**
 * Returns the scope that a refresh requests from the provider.
 *
 * @param requested the scope in the front end's request
 * @param granted the scope of the login, in which some providers write commas
 * @param isLenient whether a front end that requests more gets as much as it has, as at the start of its login
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

/**
 * Requires that all words of a requested scope are words of `whole`.
 *
 * @returns the scope to request from the provider, as {@link scopeForProvider} does
 * @throws {RelayError} `scope_refused`
 */
function requirePart(whole: readonly string[], requested: Query[string], detail?: string): string {
  const words = typeof requested === 'string' ? requested.split(' ') : [];
  const isPart = words.length > 0 && words.every((word) => whole.includes(word));
  if (!isPart) throw new RelayError('scope_refused', { detail });
  return scopeForProvider(words, whole);
}

/** Splits a scope into words, between which some providers write commas. */
const splitScope = (scope: string) => scope.split(/[ ,]+/).filter((word) => word !== '');
