import { RelayError } from '../../failures/relay-error.ts';
import { changesWhenEncoded } from '../../oauth/client-authentication.ts';
import { isObject } from '../../oauth/json.ts';
import { parseTokenResponse, type TokenResponse } from '../../oauth/token-response.ts';
import { isSuccess, parseTokenAnswer } from '../../oauth/token-response-format.ts';
import type { Provider, TokenRequestForm } from '../../providers/provider.ts';
import type { UpstreamResponse } from '../../upstream/messages.ts';
import { explainWrongEndpoint } from '../answer.ts';
import { adviseOnUrl } from '../context.ts';
import { type Finding, findingsOn } from '../finding.ts';
import { toSafeName } from './fields.ts';
import { explainFailedCall, type Step, type Trial, unobserved } from './trial.ts';

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
  calls.name('token endpoint');
  const { tokenRequest: configured } = provider;
  const own = await requestToken(trial, provider);
  const read = readAnswer(trial, own, provider);
  if (read.result) return read;
  for (const form of isOtherFormPossible(own) ? otherForms(trial) : []) {
    const changed = { ...provider, tokenRequest: form };
    const { findings, result } = readAnswer(trial, await requestToken(trial, changed), changed);
    if (result === undefined) continue;
    const wrong = `the provider gives no token for a request in the form "${configured}", and gives one for "${form}"`;
    return { findings: [endpoint.problem(wrong, `set ${describe('tokenRequest')} to ${form}`), ...findings], result };
  }
  return { findings: [explainRefusal(trial, own)] };
}

async function requestToken(
  { login, calls, grant }: Trial,
  provider: Provider,
): Promise<UpstreamResponse | RelayError> {
  const registration = await login.registrationAt(provider);
  try {
    await registration.requestToken(grant, unobserved, login.frontEnd.answerRule);
  } catch (error) {
    if (!(error instanceof RelayError)) throw error;
    return calls.last()?.answer ?? error;
  }
  const answer = calls.last()?.answer;
  if (answer === undefined) throw new Error('a token without an answer');
  return answer;
}

/** The forms in which a code may be sent. An unconfigured query is never one, because queries end up in logs. */
function otherForms({ provider, registration }: Trial): TokenRequestForm[] {
  const rawDiffers = changesWhenEncoded(registration) && !registration.clientId.includes(':');
  const forms = ['body', 'json', 'basic', ...(rawDiffers ? (['basic-raw'] as const) : [])] as const;
  return forms.filter((form) => form !== provider.tokenRequest);
}

/** Whether an answer may concern the form of the request, so that the code may still be unspent. */
function isOtherFormPossible(answer: UpstreamResponse | RelayError): boolean {
  if (answer instanceof RelayError || isSuccess(answer.status)) return false;
  return explainWrongEndpoint(endpoint, answer, '') === undefined;
}

/** Reads a token from wherever it is in the answer. */
function readAnswer(trial: Trial, answer: UpstreamResponse | RelayError, provider: Provider): Step<Exchanged> {
  if (answer instanceof RelayError || !isSuccess(answer.status)) return { findings: [] };
  const token = parseToken(answer, provider);
  const faultOfFlags = reportAgainstContract(trial, answer);
  if (token !== undefined) {
    const found = addIdToken(answer, token, provider);
    return { findings: [...faultOfFlags, ...judgeToken(trial, found)], result: found };
  }
  const holder = findFieldWithToken(answer);
  if (holder === undefined) return { findings: [] };
  const changed = { ...provider, tokenAnswer: holder };
  const nested = parseToken(answer, changed);
  if (nested === undefined) return { findings: [] };
  const fix = `set ${trial.describeOfProvider('tokenAnswer')} to ${toSafeName(holder)}`;
  const fault = endpoint.problem(`the token is not at the top of the answer, but in ${toSafeName(holder)}`, fix);
  const found = addIdToken(answer, nested, changed);
  return { findings: [...faultOfFlags, fault, ...judgeToken(trial, found)], result: found };
}

/** Says which answers only count if a configuration file describes the provider. */
function reportAgainstContract({ login }: Trial, { status, body }: UpstreamResponse): Finding[] {
  const { answerRule } = login.frontEnd;
  const fix = 'describe the provider in a configuration file: login-relay config migrate makes one of the flags';
  const complain = (what: string) => [endpoint.problem(`answers with ${what} counts`, fix)];
  if (!answerRule.isAnswer(status)) return complain(`status ${status}, and with flags alone only 200`);
  return answerRule.parse(body) === undefined ? complain('a form, and with flags alone only JSON') : [];
}

function addIdToken(answer: UpstreamResponse, token: TokenResponse, provider: Provider): Exchanged {
  const { idToken } = parseToken(answer, { ...provider, userFrom: 'id-token' }) ?? {};
  return { token, provider, idToken };
}

function parseToken(answer: UpstreamResponse, provider: Provider): TokenResponse | undefined {
  try {
    return parseTokenResponse(answer, provider);
  } catch (error) {
    if (error instanceof RelayError) return undefined;
    throw error;
  }
}

/** The field that contains the token, if the answer itself does not. */
function findFieldWithToken({ body }: UpstreamResponse): string | undefined {
  const fields = Object.entries(parseTokenAnswer(body) ?? {});
  return fields.find(([, one]) => isObject(one) && typeof one['access_token'] === 'string')?.[0];
}

function judgeToken(trial: Trial, { token, provider }: Exchanged): Finding[] {
  const { describeOfProvider, grant } = trial;
  const { tokenFields = [], callbackFields = [] } = provider;
  const lifetime = token.expiresIn === undefined ? 'does not say when it ends' : 'says when it ends';
  const refresh = token.refreshToken === undefined ? 'no refresh token' : 'a refresh token';
  const missing = (names: readonly string[], found: Readonly<Record<string, string>> = {}) =>
    names.filter((name) => !Object.hasOwn(found, name)).join(', ');
  const lacks = (where: string, names: string, setting: 'tokenFields' | 'callbackFields') =>
    names === ''
      ? []
      : [
          findingsOn(where).warning(
            `has no ${names}, or none of at most 512 bytes`,
            `correct ${describeOfProvider(setting)}`,
          ),
        ];
  return [
    endpoint.ok(`gives an access token, ${lifetime}, and ${refresh}`),
    ...judgeScope(trial, token),
    ...lacks('token endpoint', missing(tokenFields, token.extraFields), 'tokenFields'),
    ...lacks('callback', missing(callbackFields, grant.extraFields), 'callbackFields'),
  ];
}

/** Compares the granted scope with the requested one, and shows only requested words. */
function judgeScope({ login, provider, describe, describeOfProvider }: Trial, token: TokenResponse): Finding[] {
  const { ok, warning } = findingsOn('scope');
  const { scope = provider.scope } = login.frontEnd;
  const { scope: granted } = token;
  if (scope === undefined || granted === undefined) return [];
  const asked = scope.split(' ');
  const words = granted.split(' ');
  const left = asked.filter((word) => !words.includes(word) && word !== 'openid' && word !== 'offline_access');
  if (left.length === 0) return [ok('granted as it was asked for')];
  const separator = /[,;|]/.exec(words.length === 1 ? granted : '')?.[0];
  const isSplit = separator !== undefined && left.every((word) => granted.split(separator).includes(word));
  if (isSplit) {
    const settings = `${describeOfProvider('answerScopeSeparator')}, or ${describe('scopeSeparator')} for requests, too,`;
    return [warning('what is granted has another separator than a space', `set ${settings} to '${separator}'`)];
  }
  return [
    warning(
      `${left.join(', ')} is not granted`,
      `see whether the application may have it, or correct ${describe('scope')}`,
    ),
  ];
}

/** Says why no form of the request got a token. */
function explainRefusal(trial: Trial, answer: UpstreamResponse | RelayError): Finding {
  const { describe, describeOfProvider, registration, calls } = trial;
  const fix = adviseOnUrl(trial, 'tokenUrl');
  const last = calls.made.find(({ purpose }) => purpose === 'token endpoint');
  if (answer instanceof RelayError) {
    const { message, fix: network } = last ? explainFailedCall(trial, last) : { message: answer.detail, fix };
    return endpoint.problem(message, network);
  }
  const misplaced = explainWrongEndpoint(endpoint, answer, fix);
  if (misplaced !== undefined) return misplaced;
  const { status } = answer;
  const { code } = readFailure(answer);
  const tried = `(tried: ${[trial.provider.tokenRequest, ...(isSuccess(status) ? [] : otherForms(trial))].join(', ')})`;
  const wants = `${describeOfProvider('requestHeaders')}, ${describe('tokenParams')} or another ${describe('tokenRequest')}`;
  const causes: Readonly<Record<string, readonly [string, string]>> = {
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
  const [message, remedy] = causes[code] ?? [
    `refuses the token request with status ${status} ${tried}`,
    `the provider’s documentation may ask for ${wants}`,
  ];
  return endpoint.problem(message, remedy);
}

function readFailure(answer: UpstreamResponse): RelayError {
  try {
    parseTokenResponse(answer);
  } catch (error) {
    if (error instanceof RelayError) return error;
    throw error;
  }
  throw new Error('the answer has a token');
}
