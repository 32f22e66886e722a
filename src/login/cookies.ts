import { RelayError } from '../failures/relay-error.ts';
import type { Context } from '../http/context.ts';
import { cookieWriter, readCookies } from '../http/cookie-writer.ts';

/** Seconds until a login and its cookie expire. */
export const loginLifetime = 600;

const mostCookies = 20;
const mostCleared = 20;
const finishedName = 'finished';
const idPrefixLength = 8;
const idPrefixForm = '[0-9a-f]{16}';
const finishedId = new RegExp(`^${idPrefixForm}$`);
const secretLength = 32;

/** The cookies that bind each login to its browser: one cookie per login. */
export function createLoginCookies(secure: boolean) {
  const { prefix, set } = cookieWriter('login', secure, 'lax');
  const nameOf = (id: Buffer) => prefix + idPrefix(id);
  const loginName = new RegExp(`^${prefix}${idPrefixForm}$`);

  const clear = (ctx: Context, name: string) => set(ctx, name, '', 0);

  /** The logins that this browser has finished, by the beginnings of their ids. */
  function finished(ctx: Context): string[] {
    const [ids = ''] = readCookies(ctx).get(prefix + finishedName) ?? [];
    return ids.split('.').filter((id) => finishedId.test(id));
  }

  return {
    /**
     * Sets the cookie of a new login. Beyond 20 logins it clears the oldest ones, at most 20 in one
     * response: cookies that a request makes up must not make the response large.
     */
    set(ctx: Context, id: Buffer, browserSecret: Buffer): void {
      // Browsers send the oldest cookies first. @see RFC 6265 §5.4
      const names = [...readCookies(ctx).keys()].filter((name) => loginName.test(name));
      const surplus = Math.max(0, names.length + 1 - mostCookies);
      for (const name of names.slice(0, Math.min(surplus, mostCleared))) clear(ctx, name);
      set(ctx, nameOf(id), browserSecret.toString('base64url'), loginLifetime);
    },
    /**
     * The secret in the cookie of a login; undefined if there is none.
     *
     * @throws {RelayError} `cookie_invalid` if the cookie is there twice or malformed
     */
    get(ctx: Context, id: Buffer): Buffer | undefined {
      const [value, second] = readCookies(ctx).get(nameOf(id)) ?? [];
      if (value === undefined) return undefined;
      const secret = Buffer.from(value, 'base64url');
      const wellFormed = secret.length === secretLength && secret.toString('base64url') === value;
      if (second !== undefined || !wellFormed) throw new RelayError('cookie_invalid');
      return secret;
    },
    /** Clears the cookie of a login and marks the login as finished. */
    finish(ctx: Context, id: Buffer): void {
      const ids = [idPrefix(id), ...finished(ctx)].slice(0, mostCookies);
      set(ctx, prefix + finishedName, ids.join('.'), loginLifetime);
      // Keep this last: curl ignores the clearing of a cookie if another one is set after it.
      clear(ctx, nameOf(id));
    },
    isFinished(ctx: Context, id: Buffer): boolean {
      return finished(ctx).includes(idPrefix(id));
    },
  };
}

function idPrefix(id: Buffer): string {
  return id.subarray(0, idPrefixLength).toString('hex');
}
