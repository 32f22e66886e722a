import { failureCodes, RelayError } from '../errors.ts';
import { paths, sessionPaths } from '../paths.ts';

/** The parts of a request's record, or of its line in the log, that tell what it led to. */
type Described = Readonly<
  Partial<Record<'method' | 'route' | 'status' | 'outcome' | 'provider' | 'grant', unknown>>
>;

/** What the start of a login led to. */
export const onToProvider = 'on to the provider';

/** Pages ask for their session when they load, and for a nonce before the first proof. */
const expectedOutcomes: ReadonlySet<unknown> = new Set(['ok', 'session_missing', 'nonce_required']);

/** Whether somebody should look into it. */
export const hasFailed = ({ outcome }: Described): boolean => !expectedOutcomes.has(outcome);

const effects: Readonly<Record<string, string>> = {
  [paths.user]: 'the user record',
  [paths.session]: 'somebody is logged in',
  [paths.sessionRefresh]: 'the session is renewed',
  [paths.logout]: 'the session is over',
};

/** What a request led to, in words for people. Undefined: method and route say it all. */
export function effectOf(request: Described): string | undefined {
  const { method, route, outcome, status, provider, grant } = request;
  const failure = failureCodes.find((code) => code === outcome);
  if (failure !== undefined) return new RelayError(failure).detail;
  if (method === 'OPTIONS') return preflightEffect(route);
  if (typeof route !== 'string') return undefined;
  if (/^\/auth\/[^/]+\/callback$/.test(route)) {
    if (status !== 307) return 'a page for the popup';
    // The code of an OAuth login is exchanged at the token endpoint.
    return provider === undefined ? 'back to the page, with a code' : 'logged in, back to the page';
  }
  if (!route.startsWith('/auth')) return effects[route];
  if (status === 307 || route.endsWith('/consent')) return onToProvider;
  if (route.endsWith('/register')) return 'a client_id, which holds its client';
  if (grant === 'authorization_code') return 'the tokens for the code';
  if (grant === 'refresh_token') return 'new tokens';
  if (route.endsWith('/revoke')) return 'the login is revoked';
  return effects[route] ?? 'the person is asked first';
}

/** Only a preflight that is refused gets as far as a route. */
function preflightEffect(route: unknown): string {
  const preflight = 'a preflight of the browser';
  if (typeof route !== 'string') return preflight;
  const missing = sessionPaths.has(route) ? 'with sessions has this origin' : 'has this origin';
  return `${preflight}, refused: no front end ${missing}`;
}
