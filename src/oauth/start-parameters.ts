import { abbreviateInput, type FailureCode, RelayError } from '../failures/relay-error.ts';
import { limits } from '../limits.ts';
import { examplePage, findRedirectUri, originOf, type RedirectUri } from '../origins/redirect-uri.ts';
import { isLoopback } from '../urls.ts';
import type { Query } from './query.ts';

/** A base64url SHA-256. @see RFC 7636 §4.2 */
const s256Challenge = /^[A-Za-z0-9_-]{43}$/;

/** The parameters of an authorization request that must not come twice. @see RFC 6749 §3.1 */
const singleParameters = [
  'response_type',
  'response_mode',
  'scope',
  'code_challenge',
  'code_challenge_method',
] as const;

/**
 * Whether a start is an OAuth request, instead of the contract's plain start, which may have any other parameters. One
 * of the two signs is enough, so that an OAuth request without the other one fails, and begins no login without PKCE.
 */
export function isOAuthRequest(query: Query): boolean {
  return query['response_type'] === 'code' || query['code_challenge'] !== undefined;
}

/**
 * Returns the redirect URI of an OAuth request, in its registered spelling. It is compared after URL parsing.
 *
 * @throws {RelayError} `redirect_uri_unknown`
 * @see RFC 9700 §4.1.3
 */
export function requireRedirectUri(query: Query, registered: readonly RedirectUri[]): string {
  const byDefault = registered.length === 1 ? registered[0] : undefined;
  const given = query['redirect_uri'] || byDefault;
  // A default with a * matches no page. It stands for many pages, so the request has to name one of them.
  const found = typeof given === 'string' ? findRedirectUri(given, registered) : undefined;
  if (found === undefined) throw unknownRedirectUri(registered, given);
  return found;
}

/**
 * Returns the failure for an unknown redirect URI. It names the front end's pages if all are on this machine, because
 * then only developers read it.
 */
function unknownRedirectUri(registered: readonly RedirectUri[], given: unknown): RelayError {
  const asked = abbreviateInput(given);
  const failure = new RelayError('redirect_uri_unknown', { asked });
  const areLocal = registered.every((uri) => isLoopback(new URL(examplePage(uri))));
  if (registered.length === 0 || !areLocal) return failure;
  const origins = [...new Set(registered.map(originOf))].join(', ');
  const detail = `${failure.detail} The pages of this front end are at ${origins}.`;
  return new RelayError(failure.code, { detail, asked });
}

/**
 * Reads the front end's own state.
 *
 * @returns undefined if the front end sent none
 * @throws {RelayError} `front_end_state_unusable` if it cannot be returned to the letter
 */
export function readFrontEndState({ state }: Query): string | undefined {
  const isShort = (text: string) => Buffer.byteLength(text) <= limits.frontEndStateSize;
  return readOptionalText(state, 'front_end_state_unusable', isShort);
}

/** Reads the account that the person probably uses. It is only a hint, so an unusable value is ignored. */
export function readLoginHint({ login_hint: hint }: Query): string | undefined {
  const isUsable = typeof hint === 'string' && hint.length <= limits.loginHintLength;
  return isUsable && hint !== '' && hint.isWellFormed() ? hint : undefined;
}

/**
 * Reads the page at which a session begins. Against open redirects, the result is built from the parsed address,
 * because URL parsers drop tabs and line breaks, and take a backslash for a slash.
 *
 * @param origin the front end's origin
 * @returns undefined if the start names no page
 * @throws {RelayError} `return_to_invalid`
 */
export function readReturnTo({ return_to }: Query, origin: string | undefined): string | undefined {
  const given = readOptionalText(return_to, 'return_to_invalid');
  if (given === undefined) return undefined;
  const isRelative = given.startsWith('/');
  const href = URL.parse(given, isRelative ? origin : undefined)?.href;
  // Compare the whole address, because blob: addresses and user names do not show in the origin.
  const isPageOfFrontEnd = href?.startsWith(`${origin}/`) && href.length <= limits.returnToLength;
  if (href === undefined || !isPageOfFrontEnd) throw new RelayError('return_to_invalid');
  return href;
}

/**
 * Returns the S256 challenge of an OAuth request, if its other parameters are valid.
 *
 * @throws {RelayError} `request_invalid` or `response_type_unsupported`
 * @see RFC 6749 §4.1.1, RFC 7636 §4.3
 */
export function requireCodeChallenge(query: Query): string {
  for (const name of singleParameters) {
    if (Array.isArray(query[name])) throw invalidRequest(`The parameter ${name} is given more than once.`);
  }
  const { response_type, response_mode, code_challenge, code_challenge_method } = query;
  if (response_type === undefined) throw invalidRequest('The response_type is missing: it must be code.');
  if (response_type !== 'code') throw new RelayError('response_type_unsupported');
  if (response_mode !== undefined && response_mode !== 'query') {
    throw invalidRequest('The response_mode must be query.');
  }
  if (code_challenge === undefined) {
    throw invalidRequest('The code_challenge is missing: this relay requires PKCE with S256.');
  }
  if (code_challenge_method !== 'S256') throw invalidRequest('The code_challenge_method must be S256.');
  if (typeof code_challenge !== 'string' || !s256Challenge.test(code_challenge)) {
    throw invalidRequest('The code_challenge is not 43 characters of base64url, as S256 gives.');
  }
  return code_challenge;
}

/**
 * Reads the resource of an OAuth request: a URL without a fragment.
 *
 * @returns undefined if the request names none
 * @throws {RelayError} `resource_refused`
 * @see RFC 8707 §2
 */
export function readResource({ resource }: Query): string | undefined {
  // Printable ASCII without `#`.
  const isUriWithoutFragment = (text: string) =>
    text.length <= limits.resourceLength && /^[\x21\x22\x24-\x7e]+$/.test(text) && URL.canParse(text);
  return readOptionalText(resource, 'resource_refused', isUriWithoutFragment);
}

/**
 * Reads the text of a parameter. An empty text counts as absent.
 *
 * @throws {RelayError} with this code if the parameter is repeated or unusable
 */
function readOptionalText(
  value: Query[string],
  code: FailureCode,
  isUsable: (text: string) => boolean = () => true,
): string | undefined {
  if (value === undefined || value === '') return undefined;
  if (typeof value === 'string' && value.isWellFormed() && isUsable(value)) return value;
  throw new RelayError(code);
}

function invalidRequest(detail: string): RelayError {
  return new RelayError('request_invalid', { detail });
}
