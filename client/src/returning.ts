import type { LoginOptions } from '../client.d.ts';

/** A login of this tab, from its start until it has come back. It is in the tab's own storage. */
export interface Pending {
  readonly state: string;
  readonly verifier: string;
  readonly returnTo: string;
  readonly scroll: number;
  /** Whether this tab is the popup of another one. */
  readonly popup: boolean;
  /** The parameters that the relay added to the address. In session mode, it adds only failures. */
  response?: Readonly<Record<string, string>>;
}

export const wrongIssuer = {
  error: 'issuer_wrong',
  error_description: 'It came from another service.',
};

/**
 * Takes a login that comes back off the address. If it has to end at another page, the browser goes there.
 *
 * @returns undefined if no login comes back
 */
export function takePending({ relay, mode, debug }: LoginOptions, name: string): Pending | Promise<never> | undefined {
  const url = new URL(location.href);
  const response = Object.fromEntries(url.searchParams);
  const clean = () => history.replaceState(history.state, '', url);
  // No login brings a token in the address. A link with one may be somebody else's.
  if (url.href.includes('access_token=')) {
    url.searchParams.delete('access_token');
    url.hash = url.hash.replace(/.*access_token=.*/, '');
    clean();
  }
  const pending: Pending | null = JSON.parse(sessionStorage[name] ?? null);
  // In session mode, the relay adds no issuer.
  const isFromRelay = (response['iss'] ?? (mode && relay)) === relay;
  // A link with another state is forged.
  const comesBack = pending && pending.state === response['state'];
  // The state may belong to another login of this page, such as a login for another API.
  const isOfAnother = JSON.stringify(sessionStorage).includes(`${response['state']}`);

  if (comesBack) pending.response = isFromRelay ? response : wrongIssuer;
  if (comesBack || (response['iss'] === relay && !isOfAnother)) {
    if (!comesBack) {
      debug?.('ignored', response['state']);
      // This may be the popup of a frame of another site. The two share no storage, so only the frame knows the login,
      // and finishes it.
      window.opener?.postMessage({ response }, location.origin);
    }
    url.search = '';
    if (comesBack && !pending.popup && url.href !== pending.returnTo) {
      sessionStorage[name] = JSON.stringify(pending);
      // A load, not a change of the history: routers read the address when they start.
      location.replace(pending.returnTo);
      return new Promise(() => {});
    }
    clean();
  }
  if (!pending || !(mode || pending.response)) return undefined;
  delete sessionStorage[name];
  return pending;
}

/** Scrolls to where the person was. The page may need a second until it is long enough. */
export function scrollBack(y: number, frames = 60): void {
  scrollTo(0, y);
  if (frames && scrollY < y) requestAnimationFrame(() => scrollBack(y, frames - 1));
}
