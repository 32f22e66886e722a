import { RelayError, undefinedIfFailed } from '../../failures/relay-error.ts';
import { isObject } from '../../oauth/json.ts';
import { parseTokenResponse, type TokenResponse } from '../../oauth/token-response.ts';
import { isSuccess, parseTokenAnswer } from '../../oauth/token-response-format.ts';
import type { Provider, TokenRequestForm } from '../../providers/provider.ts';
import type { UpstreamResponse } from '../../upstream/messages.ts';
import { explainWrongEndpoint } from '../answer.ts';
import { adviseOnUrl } from '../context.ts';
import { type Finding, findingsOn } from '../finding.ts';
import { isBasicRawDifferent } from '../token-endpoint.ts';
import { toSafeName } from './fields.ts';
import { explainFailedCall, ignoreCall, type Step, type Trial } from './trial.ts';

const endpoint = findingsOn('token endpoint');

/** A token answer, with the provider settings that work for it. */
interface Exchanged {
  readonly token: TokenResponse;
  readonly provider: Provider;
  /** The ID token, even if the relay does not read it. */
  readonly idToken: string | undefined;
}

/**
 * Exchanges the code of the login as the relay would, then in the other forms until one returns a token. It reports
 * what was wrong, and the rest of the check continues with the form that works.
 */
export async function exchangeCode(trial: Trial): Promise<Step<Exchanged>> {
  const { provider, calls, describe } = trial;
  calls.setPurpose('token endpoint');
  const { tokenRequest: configured } = provider;
  const answer = await requestToken(trial, provider);
  const step = readAnswer(trial, answer, provider);
  if (step.result) return step;
  for (const form of mayOtherFormWork(answer) ? otherForms(trial) : []) {
    const changed = { ...provider, tokenRequest: form };
    const { findings, result } = readAnswer(trial, await requestToken(trial, changed), changed);
    if (result === undefined) continue;
    const wrong = `the provider gives no token for a request in the form "${configured}", and gives one for "${form}"`;
    return { findings: [endpoint.problem(wrong, `set ${describe('tokenRequest')} to ${form}`), ...findings], result };
  }
  return { findings: [explainRefusal(trial, answer)] };
}

/** Requests a token. Returns the answer, whatever it says, or the error of a call without an answer. */
async function requestToken(
  { login, calls, grant }: Trial,
  provider: Provider,
): Promise<UpstreamResponse | RelayError> {
  const registration = await login.registrationAt(provider);
  try {
    await registration.requestToken(grant, ignoreCall, login.frontEnd.answerRule);
  } catch (error) {
    if (!(error instanceof RelayError)) throw error;
    return calls.last()?.answer ?? error;
  }
  const answer = calls.last()?.answer;
  if (answer === undefined) throw new Error('a token without an answer');
  return answer;
}

/** The other forms in which a code may be sent. A query is not among them, because queries end up in logs. */
function otherForms({ provider, registration }: Trial): TokenRequestForm[] {
  const forms: TokenRequestForm[] = ['body', 'json', 'basic'];
  if (isBasicRawDifferent(registration)) forms.push('basic-raw');
  return forms.filter((form) => form !== provider.tokenRequest);
}

/** Whether the provider may have refused the form of the request, so that the code may still be unspent. */
function mayOtherFormWork(answer: UpstreamResponse | RelayError): boolean {
  if (answer instanceof RelayError || isSuccess(answer.status)) return false;
  return explainWrongEndpoint(endpoint, answer, '') === undefined;
}

/** Reads the token in an answer, at its top or in one of its fields. Without a token, there is no result. */
function readAnswer(trial: Trial, answer: UpstreamResponse | RelayError, provider: Provider): Step<Exchanged> {
  if (answer instanceof RelayError || !isSuccess(answer.status)) return { findings: [] };
  const ofContract = judgeByContract(trial, answer);
  const atTop = parseAnswer(answer, provider);
  if (atTop !== undefined) return { findings: [...ofContract, ...judgeToken(trial, atTop)], result: atTop };
  const field = findFieldWithToken(answer);
  const nested = field === undefined ? undefined : parseAnswer(answer, { ...provider, tokenAnswer: field });
  if (field === undefined || nested === undefined) return { findings: [] };
  const fix = `set ${trial.describeOfProvider('tokenAnswer')} to ${toSafeName(field)}`;
  const problem = endpoint.problem(`the token is not at the top of the answer, but in ${toSafeName(field)}`, fix);
  return { findings: [...ofContract, problem, ...judgeToken(trial, nested)], result: nested };
}

/**
 * Reports an answer that the front end's rule refuses. Only the rule of a plain login with flags alone refuses any
 * successful answer: as the contract says, it takes status 200 and JSON alone.
 */
function judgeByContract({ login }: Trial, { status, body }: UpstreamResponse): Finding[] {
  const { answerRule } = login.frontEnd;
  const fix = 'describe the provider in a configuration file: login-relay config migrate makes one of the flags';
  if (!answerRule.isAnswer(status)) {
    return [endpoint.problem(`answers with status ${status}, and with flags alone only 200 counts`, fix)];
  }
  if (answerRule.parse(body) !== undefined) return [];
  return [endpoint.problem('answers with a form, and with flags alone only JSON counts', fix)];
}

/** Parses an answer, with its ID token even if the relay does not read it; undefined if there is no token. */
function parseAnswer(answer: UpstreamResponse, provider: Provider): Exchanged | undefined {
  const token = undefinedIfFailed(() => parseTokenResponse(answer, provider));
  if (token === undefined) return undefined;
  const withIdToken = undefinedIfFailed(() => parseTokenResponse(answer, { ...provider, userFrom: 'id-token' }));
  return { token, provider, idToken: withIdToken?.idToken };
}

/** Finds the name of a field that contains the token, in an answer that has none at its top. */
function findFieldWithToken({ body }: UpstreamResponse): string | undefined {
  const fields = Object.entries(parseTokenAnswer(body) ?? {});
  const [name] = fields.find(([, value]) => isObject(value) && typeof value['access_token'] === 'string') ?? [];
  return name;
}

/** Says what came with the token, and which configured fields did not. */
function judgeToken(trial: Trial, { token, provider }: Exchanged): Finding[] {
  const { describeOfProvider, grant } = trial;
  const { tokenFields = [], callbackFields = [] } = provider;
  const lifetime = token.expiresIn === undefined ? 'without its lifetime' : 'with its lifetime';
  const refresh = token.refreshToken === undefined ? 'without a refresh token' : 'with a refresh token';
  const warnOfMissing = (subject: string, missing: readonly string[], setting: 'tokenFields' | 'callbackFields') => {
    if (missing.length === 0) return [];
    const message = `has no ${missing.join(', ')}, or none of at most 512 bytes`;
    return [findingsOn(subject).warning(message, `correct ${describeOfProvider(setting)}`)];
  };
  const missingInAnswer = tokenFields.filter((name) => !Object.hasOwn(token.extraFields ?? {}, name));
  const missingInCallback = callbackFields.filter((name) => !Object.hasOwn(grant.extraFields ?? {}, name));
  return [
    // A subject of its own, because another form of the request, or another field, may have been needed for the token.
    findingsOn('access token').ok(`came ${lifetime} and ${refresh}`),
    ...judgeScope(trial, token),
    ...warnOfMissing('token endpoint', missingInAnswer, 'tokenFields'),
    ...warnOfMissing('callback', missingInCallback, 'callbackFields'),
  ];
}

/** Compares the granted scope with the requested scope. It shows only requested words, because others may be secret. */
function judgeScope({ login, provider, describe, describeOfProvider }: Trial, token: TokenResponse): Finding[] {
  const { ok, warning } = findingsOn('scope');
  const { scope = provider.scope } = login.frontEnd;
  const { scope: granted } = token;
  if (scope === undefined || granted === undefined) return [];
  const grantedWords = granted.split(' ');
  // Some providers leave these two words out of the answer.
  const expected = scope.split(' ').filter((word) => word !== 'openid' && word !== 'offline_access');
  const missing = expected.filter((word) => !grantedWords.includes(word));
  if (missing.length === 0) return [ok('granted as it was asked for')];
  const separator = /[,;|]/.exec(grantedWords.length === 1 ? granted : '')?.[0];
  if (separator !== undefined && missing.every((word) => granted.split(separator).includes(word))) {
    const settings = `${describeOfProvider('answerScopeSeparator')}, or ${describe('scopeSeparator')} for requests, too,`;
    return [warning('what is granted has another separator than a space', `set ${settings} to '${separator}'`)];
  }
  const fix = `see whether the application may have it, or correct ${describe('scope')}`;
  return [warning(`${missing.join(', ')} is not granted`, fix)];
}

/** Says why no form of the request got a token. */
function explainRefusal(trial: Trial, answer: UpstreamResponse | RelayError): Finding {
  const { describe, describeOfProvider, registration, calls } = trial;
  const fix = adviseOnUrl(trial, 'tokenUrl');
  if (answer instanceof RelayError) {
    const failedCall = calls.made.find(({ purpose }) => purpose === 'token endpoint');
    const explained = failedCall ? explainFailedCall(trial, failedCall) : { message: answer.detail, fix };
    return endpoint.problem(explained.message, explained.fix);
  }
  const wrongEndpoint = explainWrongEndpoint(endpoint, answer, fix);
  if (wrongEndpoint !== undefined) return wrongEndpoint;
  const { status } = answer;
  const { code } = readFailure(answer);
  const forms = isSuccess(status) ? [trial.provider.tokenRequest] : [trial.provider.tokenRequest, ...otherForms(trial)];
  const tried = `(tried: ${forms.join(', ')})`;
  const wants = `${describeOfProvider('requestHeaders')}, ${describe('tokenParams')} or another ${describe('tokenRequest')}`;
  const explanations: Readonly<Record<string, readonly [string, string]>> = {
    client_refused: [
      `does not accept the client identifier with this client secret ${tried}`,
      `correct the client secret or ${describe('clientId')}`,
    ],
    redirect_uri_refused: [
      'does not accept the redirect URI',
      `register exactly ${registration.callbackUri} as callback URL`,
    ],
    code_refused: [
      'refuses the code that it has given a moment ago',
      `${fix}: it may be of another environment; or set ${describe('pkce')} as the provider wants it`,
    ],
    token_missing: [
      `answers with status ${status} and no access token`,
      `look at the fields above: if the token is in one of them, set ${describeOfProvider('tokenAnswer')} to it`,
    ],
  };
  const [message, remedy] = explanations[code] ?? [
    `refuses the token request with status ${status} ${tried}`,
    `the provider’s documentation may ask for ${wants}`,
  ];
  return endpoint.problem(message, remedy);
}

/** Reads how the relay would fail with an answer. @throws {Error} if the answer has a token */
function readFailure(answer: UpstreamResponse): RelayError {
  try {
    parseTokenResponse(answer);
  } catch (error) {
    if (error instanceof RelayError) return error;
    throw error;
  }
  throw new Error('the answer has a token');
}
