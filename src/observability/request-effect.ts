import { failureCodes, RelayError } from '../failures/relay-error.ts';
import type { Action } from '../http/context.ts';

type DescribedPart = 'method' | 'action' | 'route' | 'status' | 'outcome' | 'provider' | 'grant' | 'ended' | 'by';
/** The parts of a request's record, or of its log line, that tell its effect. */
type Described = Readonly<Partial<Record<DescribedPart, unknown>>>;

/** The effect of a start, if the person is not asked first. */
export const onToProvider = 'on to the provider';

/**
 * The outcomes that are no failures. Pages ask for their session when they load, and for a nonce before the first
 * proof.
 */
const expectedOutcomes: ReadonlySet<unknown> = new Set(['ok', 'login_started', 'session_missing', 'nonce_required']);

/** Whether the outcome of a request deserves attention. */
export const hasFailed = ({ outcome }: Described): boolean => !expectedOutcomes.has(outcome);

const sessionActions: ReadonlySet<unknown> = new Set(['session', 'session-refresh', 'logout']);
const programActions: ReadonlySet<unknown> = new Set(['token', 'revoke', 'register']);
const personActions: ReadonlySet<unknown> = new Set([
  'start',
  'callback',
  'consent',
  'door-choose',
  'door-login',
  'door-callback',
  'door-logout',
]);

/** Whether a request starts, continues or ends somebody's login. */
export const concernsLogin = (action: unknown): boolean =>
  [personActions, programActions, sessionActions].some((actions) => actions.has(action));

const newTokens = 'new tokens';
/** The effect of a successful request, by action. */
const effects: Readonly<Partial<Record<Action, (request: Described) => string>>> = {
  start({ status, grant }) {
    if (grant === 'refresh_token') return newTokens;
    return status === 307 ? onToProvider : 'the person is asked first';
  },
  consent: () => onToProvider,
  callback({ status, provider }) {
    if (status !== 307) return 'a page for the popup';
    // Without a call to the provider, this is an OAuth login, whose code is exchanged at the token endpoint.
    return provider === undefined ? 'back to the page, with a code' : 'logged in, back to the page';
  },
  token: ({ grant }) => (grant === 'refresh_token' ? newTokens : 'the tokens for the code'),
  revoke: () => 'the login is revoked',
  register: () => 'a client_id, which holds its client',
  introspect: () => 'whether the token is good',
  gateway: () => 'passed to the resource',
  check: () => 'the request may pass',
  'check-answer': () => 'back to the page',
  'door-choose'({ method, status }) {
    if (method === 'POST') return 'the person has chosen a provider';
    return status === 302 ? 'back to the page' : 'the person is asked which provider';
  },
  'door-login': () => 'on to the login',
  'door-callback': ({ grant }) => (grant === undefined ? 'back to the page' : 'logged in, the browser gets its cookie'),
  'door-logout'({ method, by }) {
    if (method === 'POST') return 'the browser is logged out';
    return by === undefined ? 'nobody is logged in' : 'the person is asked first';
  },
  'door-user': () => 'who is logged in',
  user: () => 'the user record',
  session: () => 'somebody is logged in',
  'session-refresh': () => 'the session is renewed',
  logout: () => 'the session is over',
};

/** Describes the effect of a request in words for people. @returns undefined if method and route say enough */
export function describeEffect(request: Described): string | undefined {
  const { method, action, outcome } = request;
  const failure = failureCodes.find((code) => code === outcome);
  if (failure !== undefined) return new RelayError(failure).detail;
  // nginx discards the redirect of a check, and asks for another one.
  if (outcome === 'login_started') return action === 'check' ? 'the answer leads to the login' : 'on to the login';
  const preflight = method === 'OPTIONS' ? describePreflight(request) : undefined;
  if (preflight !== undefined) return preflight;
  const [, effect] = Object.entries(effects).find(([name]) => name === action) ?? [];
  return effect?.(request);
}

/**
 * Describes the effect of a preflight that the relay answered.
 *
 * @returns undefined for an OPTIONS request that a resource answers, or about which a proxy asks
 */
function describePreflight({ action, route, ended }: Described): string | undefined {
  const preflight = 'a preflight of the browser';
  // At `check`, the preflight is the question of a proxy. The gateway has forwarded a preflight with `ended`.
  if (action === 'check' || ended !== undefined) return undefined;
  // A permitted preflight is answered before its route is known, or by the gateway.
  if (typeof route !== 'string' || action === 'gateway') return preflight;
  const reason = sessionActions.has(action)
    ? 'no front end with sessions has this origin'
    : 'no front end has this origin';
  return `${preflight}, refused: ${reason}`;
}
