import { parseJsonObject } from '../oauth/json.ts';
import type { Provider } from '../providers/provider.ts';
import { userRequest } from '../upstream/look-up-user.ts';
import { isHtml, isRedirect } from './answer.ts';
import { type Finding, ok, problem, providerInTrouble } from './finding.ts';
import type { Probe } from './probe.ts';

const subject = 'user lookup';

/**
 * Asks for the user of a made-up token, and judges the answer: the token has to be refused.
 *
 * @param mendUrl what to change where the address is wrong
 */
export async function examineUserEndpoint(
  probe: Probe,
  provider: Provider,
  mendUrl: string,
): Promise<Finding> {
  const probed = await probe(subject, userRequest(provider, 'login-relay-check'));
  if ('finding' in probed) return probed.finding;
  const { status, headers, body } = probed.answer;
  const refused = ok(subject, 'refuses a made-up token, as it has to');
  if (status >= 500 || status === 429) return providerInTrouble(subject, status);
  if (/^bearer\b/i.test(headers['www-authenticate'] ?? '')) return refused;
  if (isRedirect(probed.answer)) {
    return problem(subject, 'redirects elsewhere, where the relay sends no token', mendUrl);
  }
  if (status === 404 || status === 405) {
    return problem(subject, `nothing there takes the request (status ${status})`, mendUrl);
  }
  if (isHtml(probed.answer)) {
    return problem(subject, `answers with a page for people (status ${status})`, mendUrl);
  }
  if (status !== 200) return refused;
  const { userRejectedWhen: rejected } = provider;
  const record = parseJsonObject(body);
  if (record === undefined) return problem(subject, 'answers without a JSON object', mendUrl);
  if (rejected && record[rejected.field] === rejected.equals) return refused;
  return problem(subject, 'accepts a made-up token: it does not tell who is logged in', mendUrl);
}
