import { isFailure, RelayError } from '../failures/relay-error.ts';
import type { Context } from '../http/context.ts';
import { createCookieWriter, readCookies } from '../http/cookies.ts';
import { createSplitCookies } from '../http/split-cookies.ts';
import type { createAccessTokens } from '../resources/access-tokens.ts';
import { type Doors, type Entered, enter } from '../resources/door.ts';
import type { Resource } from '../resources/resource.ts';
import { isHttps } from '../urls.ts';
import { mayComeFromForeignPage } from './browser-request.ts';

/** Seconds for which `markReturned` remembers a return. */
const returnedTime = 10;
/** Seconds for which a browser remembers the provider that its person has chosen. */
const choiceTime = 31_536_000;

type AccessTokens = ReturnType<typeof createAccessTokens>;

export type DoorCookies = ReturnType<typeof createDoorCookies>;

/** Sets, reads and clears the cookie that opens a resource to a browser, at the host of the resource. */
export function createDoorCookies({ url }: Pick<Resource, 'url'>) {
  const writer = createCookieWriter('door', isHttps(url), 'lax');
  const { name, prefix } = writer;
  const cookies = createSplitCookies(writer, 'identity_too_long');
  const returnedName = `${prefix}answered`;
  const choiceName = `${prefix}provider`;
  return {
    /** @throws {RelayError} `identity_too_long`, before any cookie is set */
    set: (ctx: Context, text: string, maxAge: number): void => cookies.set(ctx, name, text, maxAge),
    get: (ctx: Context): string | undefined => cookies.get(ctx, name),
    clear: (ctx: Context): void => cookies.clear(ctx, name),
    /**
     * Records in a cookie that this browser was sent back to its page, because it is logged in.
     *
     * @returns whether that happened in the last ten seconds too: then the proxy ignores the answers of the check, and
     *   would send the browser here forever
     */
    markReturned(ctx: Context): boolean {
      writer.set(ctx, returnedName, '1', returnedTime);
      return readCookies(ctx).has(returnedName);
    },
    /** Lets this browser remember which provider its person has chosen. It is no secret, and opens nothing. */
    rememberChoice: (ctx: Context, registration: string): void => writer.set(ctx, choiceName, registration, choiceTime),
    /** The provider that a person of this browser last chose, as its cookie claims. */
    lastChoice: (ctx: Context): string | undefined => readCookies(ctx).get(choiceName)?.[0],
  };
}

/**
 * Limits the lifetime of cookies that were issued before a reload made it shorter.
 *
 * @param lifetime in seconds
 */
export function limitLifetime(
  { open, remembers }: Pick<AccessTokens, 'open' | 'remembers'>,
  lifetime: number,
): Pick<AccessTokens, 'open' | 'remembers'> {
  return {
    remembers,
    open(text, resource) {
      const opened = open(text, resource);
      if (opened === undefined) return undefined;
      return { ...opened, exp: Math.min(opened.exp, opened.iat + lifetime) };
    },
  };
}

/**
 * Opens the cookie of a request.
 *
 * @param requireAsked returns the request that is to pass if a proxy describes it in headers. It may throw. By default,
 *   it is this request itself
 * @returns the door with the content of the cookie; undefined if there is none, or no door opens to it
 * @throws {RelayError} `foreign_page_refused`, before the cookie is opened
 */
export async function openByCookie(
  ctx: Context,
  { origin, cookies, byCookie }: { readonly origin: string; readonly cookies: DoorCookies; readonly byCookie: Doors },
  requireAsked: () => { readonly method: string } = () => ctx,
): Promise<Entered | undefined> {
  const cookie = cookies.get(ctx);
  if (cookie === undefined) return undefined;
  if (mayComeFromForeignPage(ctx, requireAsked().method, origin)) throw new RelayError('foreign_page_refused');
  try {
    return await enter(byCookie, cookie);
  } catch (error) {
    if (isFailure(error, 'resource_token_invalid', 'resource_token_expired')) return undefined;
    throw error;
  }
}
