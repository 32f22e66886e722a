import { stringifySetCookie } from 'cookie';
import type { Context } from './context.ts';

/**
 * The relay's cookies in a request, each name with all its values. It may contain cookies that only look like the
 * relay's.
 */
export type Cookies = ReadonlyMap<string, readonly string[]>;

// The name of every cookie of the relay contains it.
const nameMark = 'lr_';
// Browsers accept a cookie with this prefix only over HTTPS and from this host.
const securePrefix = '__Host-Http-';
const startOfName = `(?:${securePrefix})?${nameMark}`;
const noCookies: Cookies = new Map();

export type CookieWriter = ReturnType<typeof createCookieWriter>;

/** A part of the name of a cookie. `door` is for resources that open to browsers, and `door_login` for logins there. */
export type CookieKind = 'login' | 'session' | 'door' | 'door_login';

/**
 * Creates the writer for one kind of the relay's cookies. Scripts cannot read any of them.
 *
 * @param secure whether the cookies are for an https address
 */
export function createCookieWriter(kind: CookieKind, secure: boolean, sameSite: 'lax' | 'strict') {
  const attributes = { path: '/', httpOnly: true, secure, sameSite } as const;
  const name = `${secure ? securePrefix : ''}${nameMark}${kind}`;
  return {
    /** The name of the only cookie of its kind. */
    name,
    prefix: `${name}_`,
    /** @param maxAge seconds; 0 clears the cookie */
    set(ctx: Context, name: string, value: string, maxAge: number): void {
      ctx.append('Set-Cookie', stringifySetCookie({ name, value, maxAge, ...attributes }));
    },
  };
}

const startOfRelayCookie = new RegExp(`(?:^|[;\\s])${startOfName}`);

/**
 * Whether a `Cookie` header contains a cookie with a name that the relay gives. The state check takes it for a sign of
 * a browser. Which cookies must not pass the gateway is decided by `isRelayCookie`, which finds more.
 */
export function hasRelayCookie(header: string | undefined): boolean {
  return header !== undefined && startOfRelayCookie.test(header);
}

const relayCookie = new RegExp(`^[ \\t]*(?:=[ \\t]*)?${startOfName}`, 'i');

/**
 * Whether a cookie must not pass the gateway: an application gets none of the relay's cookies, and sets none. A cookie
 * without a name counts as well, because a browser may send only its value, so that `=lr_door=x` comes back as
 * `lr_door=x`. The comparison ignores case.
 *
 * @param cookie name and value, as in a `Cookie` or `Set-Cookie` header
 * @see RFC 6265bis §5.8.3
 */
export const isRelayCookie = (cookie: string): boolean => relayCookie.test(cookie);

/** Removes the relay's cookies from a Cookie header, for the application behind it. */
export function withoutRelayCookies(header = ''): string {
  const pairs = header.split(';').map(trimSpaces);
  return pairs.filter((pair) => pair !== '' && !isRelayCookie(pair)).join('; ');
}

/**
 * Reads the relay's cookies with all their values. The library's parser keeps only one value per name, and would hide a
 * cookie that a sibling domain planted.
 */
export function readCookies({ req, state }: Context): Cookies {
  const header = req.headers.cookie;
  if (header === undefined) return noCookies;
  state.cookies ??= parseCookies(header);
  return state.cookies;
}

/** Parses the pairs of a `Cookie` header that contain the mark: all of the relay's own, and perhaps a few others. */
function parseCookies(header: string): Cookies {
  const cookies = new Map<string, string[]>();
  let end = 0;
  // Parse only pairs with the mark, because browsers also send the cookies of sibling sites, in any number.
  for (let mark = header.indexOf(nameMark); mark >= 0; mark = header.indexOf(nameMark, end)) {
    const start = header.lastIndexOf(';', mark) + 1;
    const next = header.indexOf(';', mark);
    // Quotes do not protect a semicolon, because no cookie value contains one. @see RFC 6265 §4.1.1
    end = next < 0 ? header.length : next;
    const pair = header.slice(start, end);
    const equals = pair.indexOf('=');
    if (equals < 0) continue;
    const name = trimSpaces(pair.slice(0, equals));
    const value = trimSpaces(pair.slice(equals + 1));
    const values = cookies.get(name);
    if (values === undefined) cookies.set(name, [value]);
    else values.push(value);
  }
  return cookies;
}

/** Trims spaces and tabs. Browsers treat any other white space as part of the cookie, so it must stay. */
function trimSpaces(text: string): string {
  let start = 0;
  let end = text.length;
  while (text[start] === ' ' || text[start] === '\t') start += 1;
  while (end > start && (text[end - 1] === ' ' || text[end - 1] === '\t')) end -= 1;
  return text.slice(start, end);
}
