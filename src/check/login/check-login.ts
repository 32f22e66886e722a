import type { Evidence } from '../../access/access.ts';
import type { Item } from '../../access/fields.ts';
import { decodeClaims } from '../../access/id-token.ts';
import type { Config, FrontEndConfig, RegistrationConfig } from '../../config/config.ts';
import type { OptionSources } from '../../config/option-sources.ts';
import { frontEndsWithBrowsers } from '../../config/relations.ts';
import { formatConfigFile } from '../../config/shown/print.ts';
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
import { checkAddress, checkIdToken, checkPerson } from './person.ts';
import { checkPersonAfterRefresh, refreshOnce, revokeAll } from './refresh-and-revoke.ts';
import type { Step, Trial } from './trial.ts';
import { type Operator, waitForLogin } from './wait.ts';

const loginFindings = findingsOn('login');

/** The registration, which has only the chosen path, and the front end of the login. */
interface ChosenLogin {
  readonly registration: RegistrationConfig;
  readonly frontEnd: FrontEndConfig;
}

/**
 * Waits for one real login in a browser, and says what the provider answered, what the relay makes of it, and which
 * settings are missing. It revokes the tokens at the end.
 *
 * @param chosen `<provider>` or `<provider>/<front end>`; undefined if there is only one provider
 * @returns the report, and the exit code: 0 without a problem, 1 with a problem, 2 if the configuration has faults or
 *   `chosen` names no login
 */
export async function diagnoseLogin(
  given: OptionSources,
  chosen: string | undefined,
  operator: Operator,
  readFile: ReadFile = readTextFile,
): Promise<{ readonly report: CheckReport; readonly code: 0 | 1 | 2 }> {
  const { reading, findings: ofConfiguration } = readConfigToCheck(given, readFile);
  const reportWithoutLogin = (findings: readonly Finding[], code: 1 | 2) => {
    return { report: { configuration: null, callbackUrl: null, findings }, code };
  };
  if (reading === undefined) return reportWithoutLogin(ofConfiguration, 2);
  const { config, readings } = reading;
  const choice = chooseLogin(config, chosen);
  if ('verdict' in choice) return reportWithoutLogin([...ofConfiguration, choice], 2);
  const { registration, frontEnd } = choice;
  const naming = createNaming(readings, registration.name, frontEnd.name);
  const unreadable = reportUnreadableSecret(config, registration, naming);
  if (unreadable !== undefined) return reportWithoutLogin([...ofConfiguration, unreadable], 1);
  const client = createProviderClient(config);
  const context = { ...naming, config, registration, frontEnd, client };
  const { findings: ofLogin, answers } = await runLogin(context, operator).finally(client.close);
  const findings = [...ofConfiguration, ...ofLogin];
  const code = findings.some(({ verdict }) => verdict === 'problem') ? 1 : 0;
  const configuration = formatConfigFile(readings, config, new Map());
  return { report: { configuration, callbackUrl: registration.callbackUri, findings, answers }, code };
}

/** Says which secret this user cannot read, although a login needs it; undefined if there is none. */
function reportUnreadableSecret(
  { certificate }: Config,
  { clientSecret }: RegistrationConfig,
  { sourceOf }: Pick<CheckContext, 'sourceOf'>,
): Finding | undefined {
  const asOtherUser = 'run it as root, or as the user of the relay';
  if (clientSecret instanceof UnseenSecret) {
    const fix = `${asOtherUser}; a systemd credential is in the service alone, so name its file in client-secret-file`;
    return loginFindings.problem('it needs the client secret, which cannot be read', fix);
  }
  // The relay listens on https. Without the key of its certificate, the check could not, and no callback would arrive.
  const isKeyMissing = sourceOf('tlsKey') !== undefined && certificate === undefined;
  if (!isKeyMissing) return undefined;
  return loginFindings.problem('it needs the key of the certificate, which cannot be read', asOtherUser);
}

/** Finds the registration, its path and the front end that the operator chooses. @returns a finding if there is none */
function chooseLogin(config: Config, chosen: string | undefined): ChosenLogin | Finding {
  const { problem } = loginFindings;
  const [first] = config.registrations;
  // If there is only one registration, its last path is the default. With a preset in flags, this is `/auth/<preset>`,
  // which the documentation uses, so that its callback is most likely the registered one.
  const defaultWord = config.registrations.length === 1 ? first.paths.at(-1)?.word : undefined;
  const [word = defaultWord, name] = chosen?.split('/', 2) ?? [];
  const words = config.registrations.flatMap(({ paths }) => paths.map((path) => path.word));
  if (word === undefined) {
    const choices = words.map((choice) => `--login ${choice}`).join(', ');
    return problem('there are several providers', `say which: ${choices}`);
  }
  const registration = findRegistrationAtPath(config, word);
  if (registration === undefined) return problem('there is no such provider', `it is one of ${words.join(', ')}`);
  const frontEnds = frontEndsWithBrowsers(config, registration).filter(({ kind }) => kind !== 'machine');
  if (frontEnds.length === 0) return problem(`no front end of ${word} logs people in`);
  const frontEnd = name === undefined ? frontEnds[0] : frontEnds.find((candidate) => candidate.name === name);
  if (frontEnd !== undefined) return { registration, frontEnd };
  const names = frontEnds.map((candidate) => candidate.name).join(', ');
  return problem(`${word} has no such front end`, `it is one of ${names}`);
}

/** Finds the registration that has a word in one of its paths, and returns it with this path only. */
function findRegistrationAtPath({ registrations }: Config, word: string): RegistrationConfig | undefined {
  for (const registration of registrations) {
    const path = registration.paths.find((candidate) => candidate.word === word);
    if (path) return { ...registration, callbackUri: path.callbackUri, paths: [path] };
  }
  return undefined;
}

/** Waits for a login, and checks what comes back, and the calls that follow. */
async function runLogin(context: CheckContext, operator: Operator) {
  const { config, registration, frontEnd, client } = context;
  const { findings: ofDiscovery, provider: known } = await checkDiscovery(context);
  if (known === undefined) return { findings: ofDiscovery, answers: [] };
  // Logins without a state have no PKCE either.
  const provider = { ...known, pkce: known.pkce && registration.stateCheck !== 'off' };
  const calls = recordCalls(client);
  const saidBefore = new Set<string>();
  const sayOnce = (text: string) => {
    if (saidBefore.has(text)) return;
    saidBefore.add(text);
    operator.say(text);
  };
  const setup = { config, registration, frontEnd, provider, upstream: calls.client };
  const login = await createOneLogin(setup, (failure) => sayOnce(describeStrayCallback(failure)));
  try {
    const grantOrFinding = await waitForLogin(context, login, operator);
    if ('verdict' in grantOrFinding) return { findings: [...ofDiscovery, grantOrFinding], answers: [] };
    const trial = { ...context, login, calls, grant: grantOrFinding, provider };
    const { findings, answers } = await checkAfterCallback(trial, operator);
    return { findings: [...ofDiscovery, ...findings], answers };
  } finally {
    login.close();
  }
}

/**
 * Describes a callback that may be a stranger's. It names the cause, because some providers drop the state when they
 * refuse a login.
 */
function describeStrayCallback({ code, providerError }: RelayError): string {
  const why = providerError === undefined ? code : `${code}, ${providerError}`;
  return `A callback came that does not belong to this login (${why}). The check goes on.\n`;
}

/**
 * Makes the calls that follow a callback, and checks their answers: the calls of a login and of a refresh, and the
 * revocation. If the operator stops the check, it only revokes the tokens that it already has.
 *
 * @returns also what the provider answered, as far as it may be shown
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
    // The exchange may have shown that a setting of the provider is wrong. The further calls use the corrected one.
    const correctedTrial = { ...trial, provider };
    try {
      if (!isStopped) findings.push(...(await checkPersonAndAccess(correctedTrial, token, idToken)));
      const refresh: Step<TokenResponse> = isStopped ? { findings: [] } : await refreshOnce(correctedTrial, token);
      findings.push(...refresh.findings);
      refreshed = refresh.result;
      if (refreshed && !isStopped) findings.push(...(await checkPersonAfterRefresh(correctedTrial, refreshed)));
      if (isStopped) findings.push(loginFindings.problem('stopped, so nothing else was asked'));
    } finally {
      findings.push(...(await revokeAll(correctedTrial, [refreshed, token])));
    }
  }
  return { findings, answers: collectShownAnswers(trial, [token, refreshed], idToken) };
}

/**
 * Looks the person up, and checks the user record and the ID token: whether they say who the person is, and what the
 * person may use.
 */
async function checkPersonAndAccess(
  trial: Trial,
  token: TokenResponse,
  idToken: string | undefined,
): Promise<Finding[]> {
  const { accessToken } = token;
  const readsIdToken = trial.provider.userFrom === 'id-token';
  const lookup = await lookUpPerson(trial, accessToken);
  const ofIdToken = checkIdToken(trial, idToken, lookup.result === undefined);
  const record: Item | undefined = readsIdToken ? decodeClaims(idToken) : lookup.result?.record;
  const findings = [...lookup.findings, ...ofIdToken];
  if (record === undefined && !readsIdToken) return findings;
  const afterLookup = { ...trial, provider: lookup.result?.provider ?? trial.provider };
  const evidence: Evidence = { accessToken, idToken, login: { nonce: trial.grant.nonce } };
  const needs = findPersonNeeds(afterLookup);
  findings.push(...(await checkPerson(afterLookup, evidence, record, needs.id)));
  if (needs.address) findings.push(...checkAddress(afterLookup, record));
  return [...findings, ...(await checkAdmission(afterLookup, evidence))];
}

/** Collects the answers as far as they may be shown, including the callback and the ID token. */
function collectShownAnswers(
  { calls, grant, registration }: Trial,
  tokens: readonly (TokenResponse | undefined)[],
  idToken: string | undefined,
): ShownAnswer[] {
  const { code, codeVerifier, nonce } = grant;
  const isSecret = createSecretMatcher([
    ...tokens.flatMap((response) => [response?.accessToken, response?.refreshToken, response?.idToken]),
    idToken,
    code,
    codeVerifier,
    nonce,
    registration.clientSecret.reveal(),
  ]);
  const parameters = Object.fromEntries(grant.parameters.map((name) => [name, 'text']));
  const callback = { from: 'callback', ...describeObject(parameters, isSecret) };
  const claims = decodeClaims(idToken);
  const idTokens = claims ? [{ from: 'ID token', ...describeObject(claims, isSecret) }] : [];
  // The first call is the token request, so the ID token is shown after its answer. That is so even if only another form
  // of the request worked, whose answer is among the others.
  const [tokenAnswer, ...otherAnswers] = describeAnswers(calls.made, isSecret);
  if (tokenAnswer === undefined) return [callback, ...idTokens];
  return [callback, tokenAnswer, ...idTokens, ...otherAnswers];
}
