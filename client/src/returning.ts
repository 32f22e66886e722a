import type { LoginOptions } from '../client.d.ts';

/** A login of this tab, from its start until it has come back. It is in the tab's own storage. */
export interface Pending {
  readonly state: string;
  readonly verifier: string;
  readonly returnTo: string;
  readonly scroll: readonly [x: number, y: number];
  /** Whether this tab is the popup of another one. */
  readonly popup: boolean;
  /** What the relay added to the address. In session mode, it adds only failures. */
  response?: Readonly<Record<string, string>>;
}

/**
 * Takes a login that comes back off the address. If it has to end at another page, the browser goes there.
 *
 * @returns undefined: none comes back
 */
export function takePending(
  { relay, mode }: LoginOptions,
  name: string,
): Pending | Promise<never> | undefined {
  const pending: Pending | null = JSON.parse(sessionStorage[name] ?? null);
  const url = new URL(location.href);
  const response = Object.fromEntries(url.searchParams);
  const isFromRelay = response['iss'] === relay;
  const comesBack = pending && pending.state === response['state'] && (mode || isFromRelay);

  // A link with another state is forged.
  if (comesBack) pending.response = response;
  if (comesBack || isFromRelay) {
    url.search = '';
    if (comesBack && !pending.popup && url.href !== pending.returnTo) {
      sessionStorage[name] = JSON.stringify(pending);
      // A load, not a change of the history: routers read the address when they start.
      location.replace(pending.returnTo);
      return new Promise(() => {});
    }
    history.replaceState(history.state, '', url);
  }
  if (!pending || !(mode || pending.response)) return undefined;
  delete sessionStorage[name];
  return pending;
}

/** Scrolls to where the person was. The page may need a second until it is long enough. */
export function scrollBack(x: number, y: number, frames = 60): void {
  scrollTo(x, y);
  if (frames && scrollY < y) requestAnimationFrame(() => scrollBack(x, y, frames - 1));
}
