import { RelayError } from '../../failures/relay-error.ts';
import { ListenError } from '../../failures/start-errors.ts';
import { limits } from '../../limits.ts';
import type { OneGrant, OneLogin } from '../../relay/one-login.ts';
import { listen } from '../../server/server.ts';
import { times } from '../../times.ts';
import type { CheckContext } from '../context.ts';
import { type Finding, findingsOn } from '../finding.ts';

/** Milliseconds that a login may take. */
const usualPatience = times.login * 1000;

/** Tells the operator what to do while the check waits. */
export interface Operator {
  say(text: string): void;
  readonly stopped: Promise<unknown>;
  /** Milliseconds (default: ten minutes). */
  readonly patience?: number;
}

const subject = findingsOn('login');
/** Enough for one browser, its probes, and a few other visitors. */
const connections = 100;

/** Listens where the relay would, and waits for the login. @returns what the provider granted, or why nothing came */
export async function waitForLogin(
  context: CheckContext,
  login: OneLogin,
  operator: Operator,
): Promise<OneGrant | Finding> {
  const { config, describe } = context;
  const { host, port, certificate } = config;
  const observer = { unreadableRequest() {}, limitHit() {} };
  let server: Awaited<ReturnType<typeof listen>>;
  try {
    server = await listen(
      login.listener,
      { host, port },
      { ...limits, stopIdleTime: 0, connections },
      observer,
      certificate,
    );
  } catch (error) {
    if (!(error instanceof ListenError)) throw error;
    const other = `stop it for a minute (with systemd, login-relay.socket, too); or give another ${describe('port')}, and let the proxy send ${describePathsForProxy(context)} there until the check is over`;
    return subject.problem(
      `${error.message}. If the relay runs there: the check has to listen in its place for one login`,
      other,
    );
  }
  operator.say(formatInvitation(context, login));
  const { promise: late, resolve } = Promise.withResolvers<'late'>();
  const timer = setTimeout(resolve, operator.patience ?? usualPatience, 'late');
  try {
    const ended = await Promise.race([login.ended, late, operator.stopped.then(() => 'stopped' as const)]);
    if (ended === 'late' || ended === 'stopped') return explainSilence(context, ended);
    return ended instanceof RelayError ? explainFailure(context, ended) : ended;
  } finally {
    clearTimeout(timer);
    await server.close();
  }
}

/** The paths that a proxy has to send to the check. */
function describePathsForProxy({
  registration: {
    paths: [{ word, callbackPath }],
  },
}: CheckContext): string {
  const start = `/auth/${word}/`;
  return callbackPath.startsWith(start) ? '/auth/' : `/auth/ and ${callbackPath}`;
}

function formatInvitation({ registration, frontEnd }: CheckContext, { startUrl, frontEnd: served }: OneLogin): string {
  const minutes = usualPatience / 60_000;
  const refresh = served.asksForRefresh ? ', and asks for a refresh token' : '';
  return `Open this address in a browser within ${minutes} minutes, and log in:

  ${startUrl}

The login is that of ${frontEnd.name} at ${registration.name}${refresh}. Its callback URL is
${registration.callbackUri}
What the provider answers stays on this terminal. Ctrl-C stops the check.

`;
}

/** Explains that nothing came back. A provider that shows an error itself does not send the browser back. */
function explainSilence({ registration, describe }: CheckContext, why: 'late' | 'stopped'): Finding {
  const message = why === 'late' ? 'no login came back in time' : 'stopped before a login came back';
  const compare = `if the provider has shown an error, register exactly ${registration.callbackUri}, and compare ${describe('clientId')}, ${describe('scope')} and the scope separator`;
  const reach = `if the address did not open, let ${describe('baseUrl')} lead to this machine`;
  return subject.problem(message, `${compare}; ${reach}`);
}

function explainFailure(
  { registration, describe, describeOfProvider }: CheckContext,
  { code, detail, providerError }: RelayError,
): Finding {
  const fixes: Readonly<Record<string, string>> = {
    issuer_mismatch: `correct ${describe('issuer')}: it must be what the provider says in iss`,
    redirect_uri_refused: `register exactly ${registration.callbackUri}`,
    query_missing: 'let the proxy pass the query',
    access_denied: 'log in with an account that may, and consent',
  };
  const scopes = `correct ${describe('scope')}, or ${describe('scopeSeparator')} if scopes are not separated by spaces`;
  const ofScope = `${providerError}`.includes('scope') ? scopes : undefined;
  return subject.problem(
    detail,
    ofScope ??
      fixes[code] ??
      `see what the provider’s documentation says; compare ${describe('authorizeParams')} and ${describeOfProvider('pkce')}`,
  );
}
