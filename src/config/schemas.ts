import { isIP } from 'node:net';
import * as v from 'valibot';
import { parseMemoryAddress } from '../memory/redis-client.ts';
import { redirectUri } from '../origins/origin-schemas.ts';

/** The type of a value in YAML and JSON, as JSON Schema writes it. By default, a string. */
export interface ValueType {
  readonly type?: 'boolean' | 'integer' | 'number' | 'string' | readonly string[];
  readonly minimum?: number;
  readonly maximum?: number;
  readonly pattern?: string;
  /** The only texts that it accepts. */
  readonly enum?: readonly string[];
}

/** Attaches a type in YAML and JSON to a schema. */
export function typed<Input>(type: ValueType) {
  return v.metadata<Input, Readonly<Record<string, unknown>>>({ ...type });
}

/** The type that `typed` has attached to a schema; a string if there is none. */
export function valueTypeOf(schema: v.GenericSchema<string, unknown>): ValueType {
  const type: ValueType = v.getMetadata(schema);
  return Object.keys(type).length === 0 ? { type: 'string' } : type;
}

/** A setting's text as a value of YAML and JSON. A text that does not fit the type stays a string. */
export function typedValue(schema: v.GenericSchema<string, unknown>, text: string): unknown {
  const { type } = valueTypeOf(schema);
  if (type === 'boolean' && /^(true|false)$/.test(text)) return text === 'true';
  const isNumber = (type === 'integer' || type === 'number') && `${Number(text)}` === text;
  return isNumber ? Number(text) : text;
}

/** The words that a schema accepts; empty if it also accepts other texts. */
export const acceptedWords = (schema: v.GenericSchema<string, unknown>): readonly string[] =>
  valueTypeOf(schema).enum ?? [];

// Messages complete the sentence "--flag (VARIABLE) …". They never quote the value: describeFault does, unless it is
// secret.

/** A text that matches a pattern. */
export function textMatching(pattern: RegExp, message: string) {
  return v.pipe(v.string(), v.regex(pattern, message), typed({ type: 'string', pattern: pattern.source }));
}

/** A text that matches a pattern, and that YAML may read as a number without quotes: `client-id: 1234.5678`. */
export function textOrNumber(pattern: RegExp, message: string) {
  return v.pipe(textMatching(pattern, message), typed({ type: ['string', 'number'] }));
}

function numberBetween(type: 'integer' | 'number', pattern: RegExp, min: number, max: number) {
  const expected = type === 'integer' ? 'a whole number' : 'a number of seconds';
  const message = `must be ${expected} from ${min} to ${max}`;
  return v.pipe(
    v.string(),
    v.regex(pattern, message),
    v.transform(Number),
    v.minValue(min, message),
    v.maxValue(max, message),
    typed({ type, minimum: min, maximum: max }),
  );
}

/** A URL without a query, because it identifies something, or a path is appended to it. */
export function withoutQuery(schema: v.GenericSchema<string, URL>) {
  return v.pipe(
    schema,
    v.check(({ href }) => !href.includes('?'), 'must not have a query'),
  );
}

/** A URL in its given spelling, because providers and programs compare it as text. */
export function toTheLetter(schema: v.GenericSchema<string, URL>) {
  const findIssue = (url: string) => v.safeParse(schema, url, { abortPipeEarly: true }).issues?.[0];
  return v.pipe(
    v.string(),
    v.check(
      (url) => findIssue(url) === undefined,
      ({ input }) => findIssue(input)?.message ?? '',
    ),
  );
}

export function wholeNumber(min: number, max: number) {
  return numberBetween('integer', /^\d{1,9}$/, min, max);
}

/** A number of seconds with decimals; the result is in milliseconds. */
export function seconds(min: number, max: number) {
  return v.pipe(
    numberBetween('number', /^\d{1,6}(\.\d{1,3})?$/, min, max),
    v.transform((value) => Math.round(value * 1000)),
  );
}

// Whole numbers of days, hours and minutes; the results are in seconds.
export const days = (min: number, max: number) => inSeconds(24 * 3600, min, max);
export const hours = (min: number, max: number) => inSeconds(3600, min, max);
export const minutes = (min: number, max: number) => inSeconds(60, min, max);

function inSeconds(unit: number, min: number, max: number) {
  return v.pipe(
    wholeNumber(min, max),
    v.transform((number) => number * unit),
  );
}

export function oneOf<const Words extends readonly [string, ...string[]]>(words: Words) {
  return v.pipe(v.picklist(words, `must be one of: ${words.join(', ')}`), typed({ enum: words }));
}

export const trueOrFalse = v.pipe(
  v.picklist(['true', 'false'], 'must be one of: true, false'),
  v.transform((word) => word === 'true'),
  typed({ type: 'boolean' }),
);

export const onOrOff = v.pipe(
  oneOf(['on', 'off']),
  v.transform((word) => word === 'on'),
);

/** Parameters in the form of a query: `name=value` with `&` between them. */
export const parameters = v.pipe(
  textMatching(
    /^[^=&]+=[^&]*(&[^=&]+=[^&]*)*$/,
    'must be name=value, with & between two of them, as in the query of a URL',
  ),
  v.regex(/^[\x21-\x7e]*$/, 'must have spaces and characters beyond ASCII percent-encoded'),
  v.check(isDecodable, 'must have % as %25, and UTF-8 percent-encoded'),
  v.transform((query) => [...new URLSearchParams(query)]),
);

/** Whether every `%` of a text begins an encoded byte, and the bytes are UTF-8. */
export function isDecodable(query: string): boolean {
  try {
    decodeURIComponent(query);
    return true;
  } catch {
    return false;
  }
}

/** A non-empty string of printable ASCII. @see RFC 6749 appendix A.1 and A.2 (VSCHAR) */
export const visibleCharacters = textOrNumber(/^[\x20-\x7e]+$/, 'must be one line of printable ASCII characters');

/** Scope tokens with single spaces between. @see RFC 6749 §3.3 */
export const scope = textOrNumber(
  /^[\x21\x23-\x5b\x5d-\x7e]+( [\x21\x23-\x5b\x5d-\x7e]+)*$/,
  'must be scope names with single spaces between them',
);

/**
 * Headers that the relay or the connection sets. With another value, a request would come from another client, or its
 * end would not be clear (request smuggling).
 *
 * @see RFC 9110 §7.6.1
 */
const ownHeaders = new Set([
  'accept-encoding',
  'authorization',
  'connection',
  'content-encoding',
  'content-length',
  'content-type',
  'cookie',
  'cookie2',
  'expect',
  'host',
  'http2-settings',
  'keep-alive',
  'proxy-authenticate',
  'proxy-authorization',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
]);

// Some servers read an underscore as a hyphen.
const isOwnHeader = (name: string) => ownHeaders.has(name.replaceAll('_', '-'));

/** Lines of headers, each `Name: value`. The result has the values by lower-case name. @see RFC 9110 §5.5, §5.6.2 */
export const requestHeaders = v.pipe(
  v.string(),
  v.transform((given) =>
    given.split('\n').map((line) => [line.replace(/: .*/s, ''), line.replace(/^.*?: /s, '')] as const),
  ),
  v.check(
    (lines) => lines.every(([name]) => /^[A-Za-z0-9!#$%&'*+.^_`|~-]{1,64}$/.test(name)),
    'must have names of headers as keys',
  ),
  v.transform((lines) => lines.map(([name, value]) => [name.toLowerCase(), value] as const)),
  v.check(
    (lines) => !lines.some(([name]) => isOwnHeader(name)),
    ({ input }) =>
      `must not have ${input.map(([name]) => name).find(isOwnHeader)}: the relay sets it, or the connection does`,
  ),
  v.check((lines) => new Set(lines.map(([name]) => name)).size === lines.length, 'must not repeat a header'),
  v.check(
    (lines) => lines.every(([, value]) => /^[\x21-\x7e]([\x20-\x7e]*[\x21-\x7e])?$/.test(value)),
    'must have values of printable ASCII characters, without spaces around them',
  ),
  v.transform((lines): Readonly<Record<string, string>> => Object.fromEntries(lines)),
);

const segmentMessage = 'must be 1 to 64 letters, digits, hyphens or underscores';

/** One segment of a path that needs no percent-encoding. */
export const pathSegment = textMatching(/^[A-Za-z0-9_-]{1,64}$/, segmentMessage);

export const listenHost = textOrNumber(/^[A-Za-z0-9.:_-]{1,253}$/, 'must be a host name or an IP address');

/** Host names without ports, such as `relay1.example.com, relay2.example.com`. */
export const hostNames = v.pipe(
  v.string(),
  v.transform((list) => list.split(',').map((entry) => entry.trim().toLowerCase())),
  v.check(
    (names) =>
      names.every((name) => /^[a-z0-9._-]{1,253}$/.test(name) && URL.parse(`http://${name}`)?.hostname === name),
    'must be host names, without ports',
  ),
);

/** IP addresses and networks, such as `10.0.0.0/8, ::1`, and `unix` (`unixSocketWord`) for a Unix socket. */
export const trustedProxies = v.pipe(
  v.string(),
  v.transform((list) => list.split(',').map((entry) => entry.trim())),
  v.check(
    (entries) => entries.every((entry) => entry === 'unix' || isAddressOrNetwork(entry)),
    'must be IP addresses or networks (10.0.0.0/8), or unix',
  ),
);

/** Whether a text is an IP address, or a network such as `10.0.0.0/8`. */
function isAddressOrNetwork(text: string): boolean {
  const [address = '', prefix, ...rest] = text.split('/');
  const family = isIP(address);
  if (family === 0 || rest.length > 0) return false;
  if (prefix === undefined) return true;
  const longest = family === 4 ? 32 : 128;
  // With a prefix of 0, every client would be a trusted proxy.
  return /^\d{1,3}$/.test(prefix) && Number(prefix) > 0 && Number(prefix) <= longest;
}

export const filePath = textOrNumber(/^[^\0]+$/, 'must be a path to a file');

export const redirectUris = v.pipe(
  v.string(),
  v.transform((given) => given.split(' ').filter((url) => url !== '')),
  v.array(redirectUri),
  v.minLength(1, 'must not be empty'),
  v.maxLength(20, 'must not be given more than 20 times'),
);

/** A text for people. */
export const oneLine = (most: number) =>
  v.pipe(
    v.string(),
    v.regex(/^[^\p{C}]+$/u, 'must be one line, without control characters'),
    v.maxLength(most, `must have at most ${most} characters`),
  );

export const names = v.pipe(
  v.string(),
  v.regex(/^[A-Za-z0-9_-]{1,64}( [A-Za-z0-9_-]{1,64})*$/, segmentMessage),
  v.transform((given) => given.split(' ')),
);

export const sharedMemory = v.pipe(
  v.string(),
  v.check(
    (text) => parseMemoryAddress(text) !== undefined,
    'must be redis://, rediss://, unix:/path, redis+sentinel://h1,h2/name or redis+cluster://h1,h2, without a password, which belongs into a file',
  ),
);
