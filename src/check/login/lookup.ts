import type { Item } from '../../access/fields.ts';
import { RelayError } from '../../failures/relay-error.ts';
import { parseJsonObject } from '../../oauth/json.ts';
import type { Provider } from '../../providers/provider.ts';
import type { UpstreamResponse } from '../../upstream/messages.ts';
import { explainWrongEndpoint } from '../answer.ts';
import { adviseOnUrl } from '../context.ts';
import { type Finding, findingsOn } from '../finding.ts';
import { explainFailedCall, ignoreCall, type Step, type Trial } from './trial.ts';

const lookup = findingsOn('user lookup');

/** The record of the person, with the provider settings that work for the lookup. */
interface LookedUp {
  readonly record: Item;
  readonly provider: Provider;
}

/** Other ways to request a user record, by the configured method. Some RPC servers need a body. */
const otherWays: Readonly<Record<'get' | 'post', readonly Partial<Provider>[]>> = {
  get: [{ userRequest: 'post' }, { userRequest: 'post', userBody: 'null' }],
  post: [{ userRequest: 'get', userBody: undefined }],
};

/** Statuses that may refuse the method or the form of a request. Many servers answer a wrong method with 404. */
const statusesOfWrongMethod: ReadonlySet<number> = new Set([400, 404, 405, 411, 415, 501]);

/**
 * Looks the person up as the relay would, then with the other method if the provider may have refused the method.
 * Without a user endpoint, there is no result.
 */
export async function lookUpPerson(trial: Trial, accessToken: string): Promise<Step<LookedUp>> {
  const { provider, calls, describe, describeOfProvider } = trial;
  if (provider.userUrl === undefined)
    return { findings: [lookup.ok('there is none: the ID token says who somebody is')] };
  calls.setPurpose('user endpoint');
  const first = await lookUp(trial, provider, accessToken);
  if (first.record) {
    return { findings: [lookup.ok('gives the record of the person')], result: { record: first.record, provider } };
  }
  const mayMethodBeWrong = first.answer !== undefined && statusesOfWrongMethod.has(first.answer.status);
  for (const way of mayMethodBeWrong ? otherWays[provider.userRequest ?? 'get'] : []) {
    const changed = { ...provider, ...way };
    const { record } = await lookUp(trial, changed, accessToken);
    if (record === undefined) continue;
    const method = `${way.userRequest}`;
    const body = way.userBody === undefined ? '' : `, and ${describeOfProvider('userBody')} to '${way.userBody}'`;
    const fix = `set ${describe('userRequest')} to ${method}${body}`;
    const message = `is refused with status ${first.answer?.status}, and works by ${method.toUpperCase()}`;
    return { findings: [lookup.problem(message, fix)], result: { record, provider: changed } };
  }
  return { findings: [explainFailure(trial, first)] };
}

/** A record, or the failure of a lookup, with the answer if there was one. */
interface LookupResult {
  readonly record?: Item | undefined;
  readonly answer?: UpstreamResponse | undefined;
  readonly failure?: RelayError;
}

/**
 * Looks the person up once. A failure is part of the result, with the answer if there was one. Every call is recorded
 * (`recordCalls`), so that the last one is the call of this lookup.
 */
async function lookUp({ login, calls }: Trial, provider: Provider, accessToken: string): Promise<LookupResult> {
  const registration = await login.registrationAt(provider);
  try {
    const body = await registration.lookUpUser(accessToken, ignoreCall, undefined);
    return { record: parseJsonObject(body) };
  } catch (failure) {
    if (!(failure instanceof RelayError)) throw failure;
    return { failure, answer: calls.last()?.answer };
  }
}

/** Says why a lookup gave no record. */
function explainFailure(trial: Trial, { failure, answer }: LookupResult): Finding {
  const { describe, describeOfProvider, calls } = trial;
  const fix = adviseOnUrl(trial, 'userUrl');
  const last = calls.last();
  if (answer === undefined) {
    const wasSent = failure?.code !== 'overloaded';
    const explained = last && wasSent ? explainFailedCall(trial, last) : undefined;
    return lookup.problem(explained?.message ?? `${failure?.detail}`, explained?.fix ?? fix);
  }
  const { status } = answer;
  const headers = describeOfProvider('requestHeaders');
  if (failure?.code === 'user_record_signed') {
    return lookup.problem(
      'is signed or encrypted (application/jwt), and the relay reads plain JSON only',
      `let the provider send this client plain JSON, or set ${describeOfProvider('userFrom')} to id-token`,
    );
  }
  if (failure?.code === 'token_invalid') {
    const advice = `add to ${describe('scope')} what the lookup needs, or ${fix}: it may belong to another API`;
    return lookup.problem(`refuses the token that was just given (status ${status})`, advice);
  }
  if (status === 403) {
    const message = 'does not let this token ask (status 403)';
    return lookup.problem(message, `add to ${describe('scope')} what the lookup needs; some providers want ${headers}`);
  }
  const wrongEndpoint = explainWrongEndpoint(lookup, answer, fix);
  if (wrongEndpoint !== undefined) return wrongEndpoint;
  if (status < 300) return lookup.problem(`answers with status ${status} and no JSON object`, fix);
  const message = `refuses the request, and not the token, with status ${status}`;
  return lookup.problem(
    message,
    `give the headers that the provider’s documentation asks for, in ${headers}; or ${fix}`,
  );
}
