import { parseJsonObject } from '../oauth/json.ts';
import { buildUserRequest, isJwt, userAnswerRule } from '../upstream/provider-endpoints.ts';
import { ask, explainWrongEndpoint } from './answer.ts';
import { adviseOnUrl, madeUp, type ProviderContext } from './context.ts';
import { type Finding, findingsOn } from './finding.ts';

const lookup = findingsOn('user lookup');

/** Looks up the user of a made-up token. The provider must refuse the token. */
export async function checkUserEndpoint(context: ProviderContext): Promise<Finding> {
  const { provider } = context;
  const { userUrl } = provider;
  if (userUrl === undefined) return lookup.ok('there is none: the ID token says who somebody is');
  const answer = await ask(context, buildUserRequest({ ...provider, userUrl }, madeUp));
  if ('fix' in answer) return lookup.problem(answer.message, answer.fix);
  const { status, headers, body } = answer;
  const fix = adviseOnUrl(context, 'userUrl');
  const refusesToken = lookup.ok('refuses a made-up token, as it must');
  // A challenge is certainly a refusal, whatever else the answer contains.
  const asksForToken = /^bearer\b/i.test(headers['www-authenticate'] ?? '');
  if (asksForToken && status < 500) return refusesToken;
  if (status === 405) return explainRefusedMethod(context, fix);
  const wrongEndpoint = explainWrongEndpoint(lookup, answer, fix);
  if (wrongEndpoint !== undefined) return wrongEndpoint;
  if (status === 401) return refusesToken;
  if (!userAnswerRule(provider)(status)) return explainUnclearStatus(context, status);
  if (isJwt(headers['content-type'])) {
    return lookup.problem(
      'signs or encrypts the user info (application/jwt), and the relay reads plain JSON only',
      `let the provider send this client plain JSON, or set ${context.describeOfProvider('userFrom')} to id-token`,
    );
  }
  // Some providers refuse with status 200, and say so in a field.
  const { userRejectedWhen } = provider;
  const record = parseJsonObject(body);
  if (record === undefined) return lookup.problem('answers without a JSON object', fix);
  if (userRejectedWhen && record[userRejectedWhen.field] === userRejectedWhen.equals) return refusesToken;
  return lookup.problem('accepts a made-up token: it does not tell who is logged in', fix);
}

/** Explains status 405, which most likely means that the endpoint takes the other one of GET and POST. */
function explainRefusedMethod({ provider, describe }: ProviderContext, fix: string): Finding {
  const other = provider.userRequest === 'post' ? 'get' : 'post';
  const message = 'nothing at that address accepts the request (status 405)';
  return lookup.problem(message, `set ${describe('userRequest')} to ${other}, or ${fix}`);
}

/**
 * Explains a status other than 401, with which it is not clear whether the provider refuses the token or the request
 * itself. Only a login shows that.
 */
function explainUnclearStatus({ describeOfProvider }: ProviderContext, status: number): Finding {
  const message = `answers a made-up token with status ${status}, which may refuse the token or the request itself`;
  const wanted = `${describeOfProvider('requestHeaders')} or ${describeOfProvider('userRequest')}`;
  return lookup.notChecked(message, `see what a login gets, with check --login; some providers want ${wanted}`);
}
