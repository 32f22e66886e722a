import { RelayError } from '../failures/relay-error.ts';
import type { Context } from '../http/context.ts';
import { cookieWriter, readCookies } from '../http/cookie-writer.ts';
import { limits } from '../limits.ts';

/** Seconds until a login and its cookie expire. */
export const loginLifetime = 600;

const mostCookies = 20;
const mostCleared = 20;
const finishedName = 'finished';
const idPrefixLength = 8;
const idPrefixForm = '[0-9a-f]{16}';
const finishedId = new RegExp(`^${idPrefixForm}$`);
const secretLength = 32;
const mostParts = 8;
const partLength = limits.keptRequestLength / mostParts;
const partForm = /^(?<id>[0-9a-f]{16})\.(?<index>[0-7])\.(?<text>[\w-]+)$/;

/** A piece of the sealed request of a login, in the cookie with this name. */
interface Part {
  readonly name: string;
  readonly id: string;
  readonly index: number;
  readonly text: string;
}

/**
 * The cookies of logins: one cookie per login, which binds it to its browser, and eight cookies that all logins share,
 * for requests that do not fit into a `state`. Together they have less than 8 KB: that is what some proxies accept.
 *
 * The shared cookies have fixed names, so that many tabs which start at once cannot exceed that. They overwrite each
 * other's, and the login whose response came last is whole.
 */
export function createLoginCookies(secure: boolean) {
  const { prefix, set } = cookieWriter('login', secure, 'lax');
  const nameOf = (id: Buffer) => prefix + idPrefix(id);
  const loginName = new RegExp(`^${prefix}${idPrefixForm}$`);
  const partNames = Array.from({ length: mostParts }, (_, index) => `${prefix}part_${index}`);

  const clear = (ctx: Context, name: string) => set(ctx, name, '', 0);

  /** The logins that this browser has finished, by the beginnings of their ids. */
  function finished(ctx: Context): string[] {
    const [ids = ''] = readCookies(ctx).get(prefix + finishedName) ?? [];
    return ids.split('.').filter((id) => finishedId.test(id));
  }

  /** The parts in the shared cookies. A name may come several times if a sibling domain has set one. */
  function readParts(ctx: Context): Part[] {
    const cookies = readCookies(ctx);
    return partNames.flatMap((name) =>
      (cookies.get(name) ?? []).flatMap((value) => {
        const { id, index, text } = partForm.exec(value)?.groups ?? {};
        return id && index && text ? [{ name, id, index: Number(index), text }] : [];
      }),
    );
  }

  const readPartsOf = (ctx: Context, id: Buffer) => readParts(ctx).filter((part) => part.id === idPrefix(id));

  /** The names of the shared cookies: free ones first, then those of the oldest login. @param pending the oldest first */
  function namesToOverwrite(ctx: Context, pending: readonly string[]): string[] {
    // By maps, because a request can make up thousands of both.
    const orderOf = new Map(pending.map((name, order) => [name, order]));
    const orders = new Map<string, number>();
    for (const { name, id } of readParts(ctx)) {
      // A login without its own cookie is over: -1.
      orders.set(name, Math.max(orders.get(name) ?? -1, orderOf.get(prefix + id) ?? -1));
    }
    const order = (name: string) => orders.get(name) ?? -1;
    return partNames.toSorted((one, other) => order(one) - order(other));
  }

  return {
    /**
     * Sets the cookies of a new login. Beyond 20 logins it clears the oldest ones, at most 20 in one
     * response: cookies that a request makes up must not make the response large.
     *
     * @param kept the sealed request of the login, if no state holds it
     */
    set(ctx: Context, id: Buffer, browserSecret: Buffer, kept = ''): void {
      // Browsers send the oldest cookies first. @see RFC 6265 §5.4
      const names = [...readCookies(ctx).keys()].filter((name) => loginName.test(name));
      const surplus = Math.min(Math.max(0, names.length + 1 - mostCookies), mostCleared);
      for (const name of names.slice(0, surplus)) clear(ctx, name);
      const texts = kept.match(new RegExp(`.{1,${partLength}}`, 'g')) ?? [];
      const free = texts.length === 0 ? [] : namesToOverwrite(ctx, names.slice(surplus));
      for (const [index, text] of texts.entries()) {
        set(ctx, free[index] ?? '', `${idPrefix(id)}.${index}.${text}`, loginLifetime);
      }
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
    /**
     * The sealed request of a login; undefined if no cookie has a part of it. With a part missing, it does not open.
     *
     * @throws {RelayError} `cookie_invalid` if a part is there twice
     */
    findKept(ctx: Context, id: Buffer): string | undefined {
      const parts = readPartsOf(ctx, id).toSorted((one, other) => one.index - other.index);
      if (parts.length === 0) return undefined;
      if (new Set(parts.map(({ index }) => index)).size < parts.length) throw new RelayError('cookie_invalid');
      return parts.map(({ text }) => text).join('');
    },
    /** Clears the cookies of a login and marks the login as finished. */
    finish(ctx: Context, id: Buffer): void {
      const ids = [idPrefix(id), ...finished(ctx)].slice(0, mostCookies);
      set(ctx, prefix + finishedName, ids.join('.'), loginLifetime);
      for (const { name } of readPartsOf(ctx, id)) clear(ctx, name);
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
