import type { IncomingMessage } from 'node:http';
import { parseCookie } from 'cookie';
import type { Context } from './context.ts';

/** The cookies of a request by name, each with all of its values. */
export type Cookies = ReadonlyMap<string, readonly string[]>;

const none: Cookies = new Map();
const read = new WeakMap<IncomingMessage, Cookies>();

/** Every cookie with all of its values. Cookie parsers keep only one value per name. */
export function readCookies({ req }: Context): Cookies {
  const header = req.headers.cookie;
  if (header === undefined) return none;
  const cookies = read.get(req) ?? parseCookies(header);
  read.set(req, cookies);
  return cookies;
}

function parseCookies(header: string): Cookies {
  const cookies = new Map<string, string[]>();
  // Split inside quotes too: no cookie value contains a semicolon. @see RFC 6265 §4.1.1
  for (const pair of header.split(';')) {
    for (const [name, value = ''] of Object.entries(
      parseCookie(pair, { decode: (text) => text }),
    )) {
      const values = cookies.get(name);
      if (values === undefined) cookies.set(name, [value]);
      else values.push(value);
    }
  }
  return cookies;
}
