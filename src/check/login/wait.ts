import { reportedName } from '../../config/relations.ts';
import { RelayError } from '../../failures/relay-error.ts';
import { ListenError } from '../../failures/start-errors.ts';
import { limits } from '../../limits.ts';
import { registrationPath } from '../../paths.ts';
import type { OneGrant, OneLogin } from '../../relay/one-login.ts';
import { listen, noObserver } from '../../server/server.ts';
import { times } from '../../times.ts';
import type { CheckContext } from '../context.ts';
import { type Finding, findingsOn } from '../finding.ts';

/** Milliseconds that a login may take. */
const loginTime = times.login * 1000;

/** The operator at the terminal, who logs in and can stop the check. */
export interface Operator {
  say(text: string): void;
  /** Resolves when the operator stops the check. */
  readonly stopped: Promise<unknown>;
  /** Milliseconds to wait for the login (default: ten minutes). */
  readonly patience?: number;
}

const loginFindings = findingsOn('login');
/** The number of connections at the same time. It is enough for one browser, probes, and a few other visitors. */
const connections = 100;

/** Listens where the relay would, and waits for the login. @returns what the provider granted, or why nothing came */
export async function waitForLogin(
  context: CheckContext,
  login: OneLogin,
  operator: Operator,
): Promise<OneGrant | Finding> {
  let server: Awaited<ReturnType<typeof listen>>;
  try {
    server = await listenForLogin(context, login);
  } catch (error) {
    if (!(error instanceof ListenError)) throw error;
    return explainListenError(context, error);
  }
  operator.say(formatInvitation(context, login));
  const { promise: late, resolve } = Promise.withResolvers<'late'>();
  const timer = setTimeout(resolve, operator.patience ?? loginTime, 'late');
  try {
    const outcome = await Promise.race([login.ended, late, operator.stopped.then(() => 'stopped' as const)]);
    if (outcome === 'late' || outcome === 'stopped') return explainNoCallback(context, outcome);
    return outcome instanceof RelayError ? explainFailure(context, outcome) : outcome;
  } finally {
    clearTimeout(timer);
    await server.close();
  }
}

function listenForLogin({ config: { host, port, certificate } }: CheckContext, { listener }: OneLogin) {
  return listen(listener, { host, port }, { ...limits, stopIdleTime: 0, connections }, noObserver, certificate);
}

function explainListenError(context: CheckContext, { message }: ListenError): Finding {
  const port = context.describe('port');
  const paths = describePathsForProxy(context);
  return loginFindings.problem(
    `${message}. If the relay runs there: the check has to listen in its place for one login`,
    `stop it for a minute (with systemd, login-relay.socket, too); or give another ${port}, and let the proxy send ${paths} there until the check is over`,
  );
}

/**
 * Names the paths that a proxy has to send to the check. Any path of the registration would give the same answer: all
 * have the same `callback-path`, or each has its callback below itself.
 */
function describePathsForProxy({ registration }: CheckContext): string {
  const [{ word, callbackPath }] = registration.paths;
  return callbackPath.startsWith(`${registrationPath(word)}/`) ? '/auth/' : `/auth/ and ${callbackPath}`;
}

/** Formats the text that asks the operator to log in. */
function formatInvitation(
  { config, registration, frontEnd }: CheckContext,
  { startUrl, frontEnd: served }: OneLogin,
): string {
  const minutes = loginTime / 60_000;
  const refresh = served.asksForRefresh ? ', and asks for a refresh token' : '';
  return `Open this address in a browser within ${minutes} minutes, and log in:

  ${startUrl}

The login is that of ${reportedName(config, frontEnd)} at ${registration.name}${refresh}. Its callback URL is
${registration.callbackUri}
What the provider answers stays on this terminal. Ctrl-C stops the check.

`;
}

/** Explains that no callback came. A provider that shows an error itself does not send the browser back. */
function explainNoCallback({ registration, describe }: CheckContext, why: 'late' | 'stopped'): Finding {
  const message = why === 'late' ? 'no login came back in time' : 'stopped before a login came back';
  const compare = `if the provider has shown an error, register exactly ${registration.callbackUri}, and compare ${describe('clientId')}, ${describe('scope')} and the scope separator`;
  const reach = `if the address did not open, let ${describe('baseUrl')} lead to this machine`;
  return loginFindings.problem(message, `${compare}; ${reach}`);
}

/** Explains a callback that ended the login with a failure. */
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
  if (providerError?.includes('scope')) {
    const separator = describe('scopeSeparator');
    const fix = `correct ${describe('scope')}, or ${separator} if scopes are not separated by spaces`;
    return loginFindings.problem(detail, fix);
  }
  const otherwise = `see what the provider’s documentation says; compare ${describe('authorizeParams')} and ${describeOfProvider('pkce')}`;
  return loginFindings.problem(detail, fixes[code] ?? otherwise);
}
