import type { Context } from '../http/context.ts';
import { cookieWriter, readCookies } from '../http/cookie-writer.ts';
import { splitCookies } from '../http/split-cookies.ts';
import type { Resource } from '../resources/resource.ts';

/** If a check has no effect twice within this many seconds, the proxy is at fault, not the browser. */
const answeredTime = 10;

export type DoorCookies = ReturnType<typeof createDoorCookies>;

/** The cookies of browsers that are logged in at the host of a resource. */
export function createDoorCookies({ url }: Pick<Resource, 'url'>) {
  const writer = cookieWriter('door', url.startsWith('https:'), 'lax');
  const { name, prefix } = writer;
  const cookies = splitCookies(writer, 'identity_too_long');
  const answered = `${prefix}answered`;
  return {
    /** @throws {RelayError} `identity_too_long`, before any cookie is set */
    set: (ctx: Context, text: string, maxAge: number): void => cookies.set(ctx, name, text, maxAge),
    get: (ctx: Context): string | undefined => cookies.get(ctx, name),
    clear: (ctx: Context): void => cookies.clear(ctx, name),
    /**
     * Records that a browser was sent back to its page, because its cookie is valid. @returns whether this was already
     * recorded
     */
    markAnswered(ctx: Context): boolean {
      writer.set(ctx, answered, '1', answeredTime);
      return readCookies(ctx).has(answered);
    },
  };
}
