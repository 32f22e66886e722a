import { RelayError } from '../failures/relay-error.ts';
import type { Context } from '../http/context.ts';
import { type CookieKind, createCookieWriter, readCookies } from '../http/cookies.ts';
import { limits } from '../limits.ts';
import { times } from '../times.ts';
import { browserSecretLength } from './pkce.ts';

/** The most cookies that one response clears. */
const mostCleared = 20;
/** The most finished logins that a browser remembers. */
const mostFinished = 20;
const finishedName = 'finished';
// Begins the time in the cookie of finished logins. The ids in it are hexadecimal, so none begins with this letter.
const timeMark = 't';
const finishedTimeForm = /^t(\d{1,15})\./;
const idPrefixLength = 8;
/** The beginning of a login's id in the names and values of cookies, as the source of a regular expression. */
export const idPrefixForm = '[0-9a-f]{16}';
const finishedId = new RegExp(`^${idPrefixForm}$`);
const partLength = 700;
// `keptRequestLength` in limits.ts fits into 8 parts, so an index has one digit.
const partForm = new RegExp(`^(?<id>${idPrefixForm})\\.(?<index>[0-7])\\.(?<text>[\\w-]+)$`);

/** A kind of logins whose cookies a browser holds. */
interface LoginKind {
  readonly kind: CookieKind;
  /** The most logins at the same time. Beyond that, the oldest login is forgotten. */
  readonly most: number;
  /**
   * The longest sealed request that the cookie of the login itself holds. A longer request is in the shared cookies.
   */
  readonly mostInline: number;
  /** The number of shared cookies. */
  readonly sharedCount: number;
}

/** Logins at the host of the relay, where the `state` holds nearly all requests. */
const atRelay: LoginKind = {
  kind: 'login',
  most: 20,
  mostInline: 0,
  sharedCount: limits.keptRequestLength / partLength,
};

/** Logins of browsers at the host of a resource, which leave room for the cookies of an application. */
export const atDoor: LoginKind = { kind: 'door_login', most: 12, mostInline: 250, sharedCount: 3 };

/** A piece of the sealed request of a login, in the cookie `name`. */
interface Part {
  readonly name: string;
  readonly id: string;
  readonly index: number;
  readonly text: string;
}

/**
 * Sets and reads the cookies of logins. Each login has a cookie that binds it to its browser. Requests that do not fit
 * elsewhere are in a few cookies that all logins share. Together, the cookies stay below 8 KB, which is the limit of
 * some proxies.
 *
 * The shared cookies have fixed names, so that many tabs that start logins at once cannot exceed that limit. The tabs
 * do not see each other's cookies, and overwrite them. Only the login whose response came last is complete.
 */
export function createLoginCookies(secure: boolean, { kind, most, mostInline, sharedCount } = atRelay) {
  const { prefix, set } = createCookieWriter(kind, secure, 'lax');
  const cookieName = (id: Buffer) => prefix + idPrefix(id);
  const loginName = new RegExp(`^${prefix}${idPrefixForm}$`);
  const shared = createSharedCookies(prefix, set, sharedCount);
  const finished = createFinishedCookie(prefix, set);
  const clear = (ctx: Context, name: string) => set(ctx, name, '', 0);

  /** Reads the secret in the cookie of a login, before an inline request. Undefined if the cookie is malformed. */
  function readSecret(value: string): Buffer | undefined {
    const [text = ''] = value.split('.', 1);
    const secret = Buffer.from(text, 'base64url');
    const isWellFormed = secret.length === browserSecretLength && secret.toString('base64url') === text;
    const longest = text.length + (mostInline === 0 ? 0 : 1 + mostInline);
    return isWellFormed && value.length <= longest ? secret : undefined;
  }

  return {
    /**
     * Sets the cookies of a new login. If there are too many logins, it clears the cookies of the oldest, but at most
     * 20 in one response. Otherwise, a request with thousands of made-up cookies would get a huge response.
     *
     * @param kept the sealed request of the login, if it did not fit into the state. It is lost if it does not fit here
     */
    set(ctx: Context, id: Buffer, browserSecret: Buffer, kept = ''): void {
      // Browsers send the oldest cookies first. @see RFC 6265 §5.4
      const names = [...readCookies(ctx).keys()].filter((name) => loginName.test(name));
      const surplus = Math.min(Math.max(0, names.length + 1 - most), mostCleared);
      for (const name of names.slice(0, surplus)) clear(ctx, name);
      const isInline = kept !== '' && kept.length <= mostInline;
      if (!isInline) shared.write(ctx, id, kept, names.slice(surplus));
      const secret = browserSecret.toString('base64url');
      set(ctx, cookieName(id), isInline ? `${secret}.${kept}` : secret, times.login);
    },
    /**
     * The secret in the cookie of a login; undefined if there is no cookie.
     *
     * @throws {RelayError} `cookie_invalid` if the cookie comes twice or is malformed
     */
    get(ctx: Context, id: Buffer): Buffer | undefined {
      const [value, second] = readCookies(ctx).get(cookieName(id)) ?? [];
      if (value === undefined) return undefined;
      const secret = readSecret(value);
      if (second !== undefined || secret === undefined) throw new RelayError('cookie_invalid');
      return secret;
    },
    /**
     * The sealed request of a login; undefined if no cookie has a part of it. If some parts are missing, the text does
     * not open.
     *
     * @throws {RelayError} `cookie_invalid` if a part comes twice
     */
    findKept(ctx: Context, id: Buffer): string | undefined {
      const [own = ''] = readCookies(ctx).get(cookieName(id)) ?? [];
      if (own.includes('.')) return own.slice(own.indexOf('.') + 1);
      return shared.read(ctx, id);
    },
    /** Clears the cookies of a login and marks the login as finished. @param at milliseconds since 1970 */
    finish(ctx: Context, id: Buffer, at?: number): void {
      finished.add(ctx, id, at);
      shared.clear(ctx, id);
      // This must be the last cookie, because curl ignores a cleared cookie if another cookie is set after it.
      clear(ctx, cookieName(id));
    },
    isFinished: finished.has,
    /** When this browser last finished a login, in milliseconds since 1970. Undefined if it remembers none. */
    finishedAt: finished.lastAt,
    forgetFinished: (ctx: Context): void => clear(ctx, prefix + finishedName),
    /** The secrets of the logins that this browser has begun and not finished, the oldest first. */
    pendingSecrets(ctx: Context): Buffer[] {
      const pending = [...readCookies(ctx)].filter(([name]) => loginName.test(name)).slice(-most);
      // A sibling domain may have planted a second cookie of the same name.
      const single = pending.filter(([, values]) => values.length === 1);
      return single.flatMap(([, [value = '']]) => readSecret(value) ?? []);
    },
    /** Makes this browser forget its logins, finished or not. */
    forget(ctx: Context): void {
      const names = [...readCookies(ctx).keys()].filter((name) => name.startsWith(prefix));
      // No more than a browser can have, because a request can contain thousands of made-up cookies.
      for (const name of names.slice(0, most + sharedCount + mostCleared)) clear(ctx, name);
    },
  };
}

type SetCookie = ReturnType<typeof createCookieWriter>['set'];

/** The cookies that all logins share, for sealed requests that fit nowhere else. */
function createSharedCookies(prefix: string, set: SetCookie, sharedCount: number) {
  const partNames = Array.from({ length: sharedCount }, (_, index) => `${prefix}part_${index}`);

  /** The parts in the shared cookies. A name may come several times if a sibling domain planted a cookie. */
  function readParts(ctx: Context): Part[] {
    const cookies = readCookies(ctx);
    return partNames.flatMap((name) =>
      (cookies.get(name) ?? []).flatMap((value) => {
        const { id, index, text } = partForm.exec(value)?.groups ?? {};
        return id && index && text ? [{ name, id, index: Number(index), text }] : [];
      }),
    );
  }

  const readPartsOfLogin = (ctx: Context, id: Buffer) => readParts(ctx).filter((part) => part.id === idPrefix(id));

  /**
   * The names of the shared cookies in the order in which to overwrite them: first the unused cookies, then the cookies
   * of the oldest login.
   *
   * @param pending the cookies of pending logins, the oldest first
   */
  function namesToOverwrite(ctx: Context, pending: readonly string[]): string[] {
    const rankOfFree = -1;
    // Maps, because a request can contain thousands of made-up cookies and parts.
    const ranksOfLogins = new Map(pending.map((name, rank) => [name, rank]));
    const ranksOfCookies = new Map<string, number>();
    for (const { name, id } of readParts(ctx)) {
      // A login without its own cookie is over, so its part may be overwritten.
      const rank = ranksOfLogins.get(prefix + id) ?? rankOfFree;
      // If a name comes several times, with parts of several logins, the newest login counts.
      ranksOfCookies.set(name, Math.max(ranksOfCookies.get(name) ?? rankOfFree, rank));
    }
    const rankOf = (name: string) => ranksOfCookies.get(name) ?? rankOfFree;
    return partNames.toSorted((one, other) => rankOf(one) - rankOf(other));
  }

  return {
    /**
     * Sets the cookies of a sealed request, unless it is too long for them. Then it is lost.
     *
     * @param pending the cookies of pending logins, the oldest first
     */
    write(ctx: Context, id: Buffer, kept: string, pending: readonly string[]): void {
      if (kept === '' || kept.length > sharedCount * partLength) return;
      const texts = kept.match(new RegExp(`.{1,${partLength}}`, 'g')) ?? [];
      const names = namesToOverwrite(ctx, pending);
      for (const [index, text] of texts.entries()) {
        set(ctx, names[index] ?? '', `${idPrefix(id)}.${index}.${text}`, times.login);
      }
    },
    /** @returns undefined if no cookie has a part @throws {RelayError} `cookie_invalid` if a part comes twice */
    read(ctx: Context, id: Buffer): string | undefined {
      const found = readPartsOfLogin(ctx, id).toSorted((one, other) => one.index - other.index);
      if (found.length === 0) return undefined;
      if (new Set(found.map(({ index }) => index)).size < found.length) throw new RelayError('cookie_invalid');
      return found.map(({ text }) => text).join('');
    },
    clear(ctx: Context, id: Buffer): void {
      for (const { name } of readPartsOfLogin(ctx, id)) set(ctx, name, '', 0);
    },
  };
}

/** The cookie that says which logins a browser has finished, and the time of the last. */
function createFinishedCookie(prefix: string, set: SetCookie) {
  const name = prefix + finishedName;

  /** The logins that this browser has finished, by the beginnings of their ids. */
  function readIds(ctx: Context): string[] {
    const [ids = ''] = readCookies(ctx).get(name) ?? [];
    return ids.split('.').filter((id) => finishedId.test(id));
  }

  return {
    /** Adds a finished login. @param at its time in milliseconds since 1970, if the cookie should remember it */
    add(ctx: Context, id: Buffer, at?: number): void {
      const ids = [idPrefix(id), ...readIds(ctx)].slice(0, mostFinished);
      const texts = at === undefined ? ids : [`${timeMark}${at}`, ...ids];
      set(ctx, name, texts.join('.'), times.login);
    },
    has: (ctx: Context, id: Buffer): boolean => readIds(ctx).includes(idPrefix(id)),
    /** The time of the last finished login, in milliseconds since 1970. */
    lastAt(ctx: Context): number | undefined {
      const [value = ''] = readCookies(ctx).get(name) ?? [];
      const [, at] = finishedTimeForm.exec(value) ?? [];
      return at === undefined ? undefined : Number(at);
    },
  };
}

/** The beginning of an id, by which cookies name a login. */
function idPrefix(id: Buffer): string {
  return id.subarray(0, idPrefixLength).toString('hex');
}
