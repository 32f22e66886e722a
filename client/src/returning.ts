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
  readonly response?: Readonly<Record<string, string>>;
}

const added = ['code', 'state', 'iss', 'error', 'error_description', 'request_id'];

/**
 * Takes a login that comes back off the address.
 *
 * @returns undefined: none comes back. `leaving`: it does, but the browser goes to the page where it
 *   has to end
 */
export function takePending(
  { relay, mode }: LoginOptions,
  name: string,
): Pending | 'leaving' | undefined {
  const pending: Pending | null = JSON.parse(sessionStorage[name] ?? null);
  const url = new URL(location.href);
  const response = Object.fromEntries(url.searchParams);
  const isFromRelay = response['iss'] === relay;
  const comesBack = pending && pending.state === response['state'] && (mode || isFromRelay);

  if (comesBack || isFromRelay) {
    for (const parameter of added) url.searchParams.delete(parameter);
    if (comesBack && !pending.popup && url.href !== pending.returnTo) {
      // A load, not a change of the history: routers read the address when they start.
      sessionStorage[name] = JSON.stringify({ ...pending, response });
      location.replace(pending.returnTo);
      return 'leaving';
    }
    history.replaceState(history.state, '', url);
    // Else it may be a forged link.
    if (!comesBack) return undefined;
  } else if (!pending || !(mode || pending.response)) {
    return undefined;
  }
  delete sessionStorage[name];
  return comesBack ? { ...pending, response } : pending;
}

/** Scrolls to where the person was. The page may need a second until it is long enough. */
export function scrollBack(x: number, y: number, frames = 60): void {
  scrollTo(x, y);
  if (frames && scrollY < y) requestAnimationFrame(() => scrollBack(x, y, frames - 1));
}
