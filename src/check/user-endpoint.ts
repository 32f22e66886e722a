import { parseJsonObject } from '../oauth/json.ts';
import { isJwt, isUserAnswer, userRequest } from '../upstream/provider-endpoints.ts';
import { ask, wrongKind } from './answer.ts';
import { fixUrl, madeUp, type ProviderContext } from './context.ts';
import { type Finding, findingsOn } from './finding.ts';

const lookup = findingsOn('user lookup');

/** Looks up the user of a made-up token. The provider must refuse the token. */
export async function checkUserEndpoint(context: ProviderContext): Promise<Finding> {
  const { provider } = context;
  const { userUrl } = provider;
  if (userUrl === undefined) return lookup.ok('there is none: the ID token says who somebody is');
  const answer = await ask(context, userRequest({ ...provider, userUrl }, madeUp));
  if ('fix' in answer) return lookup.problem(answer.message, answer.fix);
  const { status, headers, body } = answer;
  const fix = fixUrl(context, 'userUrl');
  const refused = lookup.ok('refuses a made-up token, as it must');
  // A challenge refuses for certain, whatever the answer looks like else.
  const asksForToken = /^bearer\b/i.test(headers['www-authenticate'] ?? '');
  if (asksForToken && status < 500) return refused;
  const misplaced = wrongKind(lookup, answer, fix);
  if (misplaced !== undefined) return misplaced;
  // What is left is a refusal: `wrongKind` has removed redirects, 404, 405, 429, 5xx and HTML pages.
  if (!isUserAnswer(provider)(status)) return refused;
  if (isJwt(headers['content-type'])) {
    return lookup.problem(
      'signs or encrypts the user info (application/jwt), and the relay reads plain JSON only',
      'let the provider send this client plain JSON',
    );
  }
  // Some providers refuse with status 200, in a field of the answer.
  const { userRejectedWhen: rejected } = provider;
  const record = parseJsonObject(body);
  if (record === undefined) return lookup.problem('answers without a JSON object', fix);
  if (rejected && record[rejected.field] === rejected.equals) return refused;
  return lookup.problem('accepts a made-up token: it does not tell who is logged in', fix);
}
