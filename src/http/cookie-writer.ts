import type { IncomingMessage } from 'node:http';
import { stringifySetCookie } from 'cookie';
import type { Context } from './context.ts';

/** The cookies of a request by name, each with all of its values: those of the relay, and maybe others. */
export type Cookies = ReadonlyMap<string, readonly string[]>;

// In the name of every cookie of the relay.
const ownMark = 'lr_';
// Browsers accept a cookie with this prefix only from an HTTPS response of this host.
const securePrefix = '__Host-Http-';
const none: Cookies = new Map();
const alreadyRead = new WeakMap<IncomingMessage, Cookies>();

/** Writes one kind of the relay's cookies. */
export type CookieWriter = ReturnType<typeof cookieWriter>;

/**
 * The writer of one kind of cookies of the relay, which no script can read.
 *
 * @param secure whether the relay's public address is https
 */
export function cookieWriter(kind: 'login' | 'session', secure: boolean, sameSite: 'lax' | 'strict') {
  const attributes = { path: '/', httpOnly: true, secure, sameSite } as const;
  return {
    /** What the name of each of these cookies begins with. */
    prefix: `${secure ? securePrefix : ''}${ownMark}${kind}_`,
    /** @param maxAge seconds; 0 clears the cookie */
    set(ctx: Context, name: string, value: string, maxAge: number): void {
      ctx.append('Set-Cookie', stringifySetCookie({ name, value, maxAge, ...attributes }));
    },
  };
}

/** Whether a Cookie header holds a cookie of the relay: of any login, or of a session. */
export function hasRelayCookie(header: string | undefined): boolean {
  return header !== undefined && /(^|[;\s])(__Host-Http-)?lr_/.test(header);
}

/** Every cookie of the relay with all of its values. Cookie parsers keep only one value per name. */
export function readCookies({ req }: Context): Cookies {
  const header = req.headers.cookie;
  if (header === undefined) return none;
  const cookies = alreadyRead.get(req) ?? parseCookies(header);
  alreadyRead.set(req, cookies);
  return cookies;
}

function parseCookies(header: string): Cookies {
  const cookies = new Map<string, string[]>();
  let end = 0;
  // Only pairs with the mark: browsers also send what other sites of the domain have set, in any number.
  for (let mark = header.indexOf(ownMark); mark >= 0; mark = header.indexOf(ownMark, end)) {
    const start = header.lastIndexOf(';', mark) + 1;
    const next = header.indexOf(';', mark);
    // Split inside quotes too: no cookie value contains a semicolon. @see RFC 6265 §4.1.1
    end = next < 0 ? header.length : next;
    const pair = header.slice(start, end);
    const equals = pair.indexOf('=');
    if (equals < 0) continue;
    const name = trimmed(pair.slice(0, equals));
    const value = trimmed(pair.slice(equals + 1));
    const values = cookies.get(name);
    if (values === undefined) cookies.set(name, [value]);
    else values.push(value);
  }
  return cookies;
}

/** Without spaces and tabs around it. Browsers take other white space as a part of a cookie. */
function trimmed(text: string): string {
  let start = 0;
  let end = text.length;
  while (text[start] === ' ' || text[start] === '\t') start += 1;
  while (end > start && (text[end - 1] === ' ' || text[end - 1] === '\t')) end -= 1;
  return text.slice(start, end);
}
