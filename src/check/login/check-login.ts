import type { Evidence } from '../../access/access.ts';
import type { Item } from '../../access/fields.ts';
import type { Config, FrontEndConfig, RegistrationConfig } from '../../config/config.ts';
import { frontEndsWithBrowsers } from '../../config/registration-config.ts';
import { formatConfigFile } from '../../config/shown/print.ts';
import type { OptionSources } from '../../config/sources.ts';
import type { RelayError } from '../../failures/relay-error.ts';
import type { TokenResponse } from '../../oauth/token-response.ts';
import { createOneLogin } from '../../relay/one-login.ts';
import { createProviderClient } from '../../relay/registrations.ts';
import { UnseenSecret } from '../../sealing/secret.ts';
import { type ReadFile, readTextFile } from '../../text-files.ts';
import { type CheckContext, createNaming } from '../context.ts';
import { type CheckReport, readConfigToCheck } from '../diagnose.ts';
import { checkDiscovery } from '../discovery.ts';
import { type Finding, findingsOn } from '../finding.ts';
import { checkAdmission, findPersonNeeds } from './admission.ts';
import { describeAnswers, recordCalls, type ShownAnswer } from './calls.ts';
import { exchangeCode } from './exchange.ts';
import { createSecretMatcher, describeObject } from './fields.ts';
import { lookUpPerson } from './lookup.ts';
import { checkAddress, checkIdToken, checkPerson, decodeClaims } from './person.ts';
import { checkPersonAfterRefresh, refreshOnce, revokeAll } from './refresh-and-revoke.ts';
import type { Step, Trial } from './trial.ts';
import { type Operator, waitForLogin } from './wait.ts';

const subject = findingsOn('login');

/** The registration, path and front end of the login. */
interface Choice {
  readonly registration: RegistrationConfig;
  readonly frontEnd: FrontEndConfig;
}

/**
 * Waits for one real login in a browser, and says what the provider answered, what the relay makes of it, and which
 * settings are missing. It revokes the tokens at the end.
 *
 * @param chosen `<provider>`, or `<provider>/<front end>`. Undefined if there is only one provider
 * @returns the report, and the exit code, as {@link diagnose} does
 */
export async function diagnoseLogin(
  given: OptionSources,
  chosen: string | undefined,
  operator: Operator,
  readFile: ReadFile = readTextFile,
): Promise<{ readonly report: CheckReport; readonly code: 0 | 1 | 2 }> {
  const { reading, findings: ofConfiguration } = readConfigToCheck(given, readFile);
  const failed = (findings: readonly Finding[], code: 1 | 2) => {
    return { report: { configuration: null, callbackUrl: null, findings }, code };
  };
  if (reading === undefined) return failed(ofConfiguration, 2);
  const { config, readings } = reading;
  const choice = chooseLogin(config, chosen);
  if ('verdict' in choice) return failed([...ofConfiguration, choice], 2);
  const { registration, frontEnd } = choice;
  const naming = createNaming(readings, registration.name, frontEnd.name);
  const unreadable = reportUnreadableSecret(config, registration, naming);
  if (unreadable !== undefined) return failed([...ofConfiguration, unreadable], 1);
  const client = createProviderClient(config);
  const context = { ...naming, config, registration, frontEnd, client };
  const { findings: findForLogin, answers } = await runLogin(context, operator).finally(client.close);
  const findings = [...ofConfiguration, ...findForLogin];
  const code = findings.some(({ verdict }) => verdict === 'problem') ? 1 : 0;
  const configuration = formatConfigFile(readings, config, new Map());
  return { report: { configuration, callbackUrl: registration.callbackUri, findings, answers }, code };
}

/** Says which secret this user cannot read, although a login needs it. */
function reportUnreadableSecret(
  { certificate }: Config,
  { clientSecret }: RegistrationConfig,
  { sourceOf }: Pick<CheckContext, 'sourceOf'>,
): Finding | undefined {
  const asOther = 'run it as root, or as the user of the relay';
  if (clientSecret instanceof UnseenSecret) {
    const fix = `${asOther}; a systemd credential is in the service alone, so name its file in client-secret-file`;
    return subject.problem('it needs the client secret, which cannot be read', fix);
  }
  // It would listen without TLS.
  if (sourceOf('tlsKey') === undefined || certificate !== undefined) return undefined;
  return subject.problem('it needs the key of the certificate, which cannot be read', asOther);
}

/** Finds the registration with one of its paths, and the front end. @returns a finding that lists the choices */
function chooseLogin(config: Config, chosen: string | undefined): Choice | Finding {
  const all = config.registrations.flatMap((registration) =>
    registration.paths.map((path) => ({ word: path.word, registration: registrationAtPath(registration, path) })),
  );
  const words = all.map(({ word }) => word);
  const [first] = config.registrations;
  // The documents register the callback URL of a preset's word, which comes last.
  const usual = config.registrations.length === 1 ? first.paths.at(-1)?.word : undefined;
  const [word = usual, name] = chosen?.split('/', 2) ?? [];
  if (word === undefined) {
    return subject.problem(
      'there are several providers',
      `say which: ${words.map((one) => `--login ${one}`).join(', ')}`,
    );
  }
  const found = all.find((one) => one.word === word)?.registration;
  if (found === undefined) return subject.problem('there is no such provider', `it is one of ${words.join(', ')}`);
  const frontEnds = frontEndsWithBrowsers(config, found).filter(({ kind }) => kind !== 'machine');
  if (frontEnds.length === 0) return subject.problem(`no front end of ${word} logs people in`);
  const frontEnd = name === undefined ? frontEnds[0] : frontEnds.find((one) => one.name === name);
  if (frontEnd !== undefined) return { registration: found, frontEnd };
  return subject.problem(
    `${word} has no such front end`,
    `it is one of ${frontEnds.map((one) => one.name).join(', ')}`,
  );
}

/** A registration at one of its paths. Without a state check, its logins have no PKCE. */
function registrationAtPath(
  registration: RegistrationConfig,
  path: RegistrationConfig['paths'][number],
): RegistrationConfig {
  return { ...registration, callbackUri: path.callbackUri, paths: [path] };
}

async function runLogin(context: CheckContext, operator: Operator) {
  const { config, registration, frontEnd, client } = context;
  const { findings: ofDiscovery, provider: known } = await checkDiscovery(context);
  if (known === undefined) return { findings: ofDiscovery, answers: [] };
  const provider = { ...known, pkce: known.pkce && registration.stateCheck !== 'off' };
  const calls = recordCalls(client);
  const strayed = new Set<string>();
  const login = await createOneLogin(
    { config, registration, frontEnd, provider, upstream: calls.client },
    (failure) => {
      const text = describeStrayed(failure);
      if (strayed.has(text)) return;
      strayed.add(text);
      operator.say(text);
    },
  );
  try {
    const arrived = await waitForLogin(context, login, operator);
    if ('verdict' in arrived) return { findings: [...ofDiscovery, arrived], answers: [] };
    const found = await checkAfterCallback({ ...context, login, calls, grant: arrived, provider }, operator);
    return { ...found, findings: [...ofDiscovery, ...found.findings] };
  } finally {
    login.close();
  }
}

/**
 * Describes a callback that may be a stranger's. It names the cause, because some providers drop the state when they
 * refuse a login.
 */
function describeStrayed({ code, providerError }: RelayError): string {
  const why = providerError === undefined ? code : `${code}, ${providerError}`;
  return `A callback came that does not belong to this login (${why}). The check goes on.\n`;
}

/**
 * Everything after the callback: the calls of a login and of a refresh, and the revocation. If the operator stops the
 * check, only the tokens that it already has are revoked.
 */
async function checkAfterCallback(
  trial: Trial,
  operator: Operator,
): Promise<{ findings: Finding[]; answers: ShownAnswer[] }> {
  let isStopped = false;
  operator.stopped.then(() => {
    isStopped = true;
    operator.say('The check stops as soon as its tokens are revoked. Ctrl-C ends it at once.\n');
  });
  const findings: Finding[] = [];
  const exchange = await exchangeCode(trial);
  findings.push(...exchange.findings);
  const { token, provider, idToken } = exchange.result ?? {};
  let refreshed: TokenResponse | undefined;
  if (token !== undefined && provider !== undefined) {
    const now = { ...trial, provider };
    try {
      if (!isStopped) findings.push(...(await checkPersonAndAccess(now, token, idToken)));
      const refresh: Step<TokenResponse> = isStopped ? { findings: [] } : await refreshOnce(now, token);
      findings.push(...refresh.findings);
      refreshed = refresh.result;
      if (refreshed && !isStopped) findings.push(...(await checkPersonAfterRefresh(now, refreshed)));
      if (isStopped) findings.push(subject.problem('stopped, so nothing else was asked'));
    } finally {
      findings.push(...(await revokeAll(now, [refreshed, token])));
    }
  }
  return { findings, answers: collectShownAnswers(trial, [token, refreshed], idToken) };
}

/** Who the person is, and what the person may use. */
async function checkPersonAndAccess(
  trial: Trial,
  token: TokenResponse,
  idToken: string | undefined,
): Promise<Finding[]> {
  const { accessToken } = token;
  const readsIdToken = trial.provider.userFrom === 'id-token';
  const lookup = await lookUpPerson(trial, accessToken);
  const ofIdToken = checkIdToken(trial, idToken, lookup.result === undefined);
  const provider = lookup.result?.provider ?? trial.provider;
  const record: Item | undefined = readsIdToken ? decodeClaims(idToken) : lookup.result?.record;
  const found = [...lookup.findings, ...ofIdToken];
  if (record === undefined && !readsIdToken) return found;
  const now = { ...trial, provider };
  const evidence: Evidence = { accessToken, idToken, login: { nonce: trial.grant.nonce } };
  const needs = findPersonNeeds(now);
  found.push(...(await checkPerson(now, evidence, record, needs.id)));
  if (needs.address) found.push(...checkAddress(now, record));
  return [...found, ...(await checkAdmission(now, evidence))];
}

/** The answers as far as they may be shown, including the callback and the ID token. */
function collectShownAnswers(
  { calls, grant, registration }: Trial,
  tokens: readonly (TokenResponse | undefined)[],
  idToken: string | undefined,
): ShownAnswer[] {
  const ofTokens = tokens.flatMap((one) => [one?.accessToken, one?.refreshToken, one?.idToken]);
  const { code, codeVerifier, nonce } = grant;
  const isSecret = createSecretMatcher([
    ...ofTokens,
    idToken,
    code,
    codeVerifier,
    nonce,
    registration.clientSecret.reveal(),
  ]);
  const shown = describeAnswers(calls.made, isSecret);
  const parameters = Object.fromEntries(grant.parameters.map((name) => [name, 'text']));
  const ofCallback = { from: 'callback', ...describeObject(parameters, isSecret) };
  const claims = decodeClaims(idToken);
  const ofIdToken = claims ? [{ from: 'ID token', ...describeObject(claims, isSecret) }] : [];
  return [ofCallback, ...shown.slice(0, 1), ...ofIdToken, ...shown.slice(1)];
}
