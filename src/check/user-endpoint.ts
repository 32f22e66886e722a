import type { Naming } from '../config/reading.ts';
import { parseJsonObject } from '../oauth/json.ts';
import type { Provider } from '../providers/provider.ts';
import { isJwt, userRequest } from '../upstream/look-up-user.ts';
import { wrongKind } from './answer.ts';
import { type Finding, ok, problem } from './finding.ts';
import { fixUrl } from './fix-url.ts';
import type { Probe } from './probe.ts';

const subject = 'user lookup';

/**
 * Looks up the user of a made-up token. The provider must refuse the token.
 */
export async function checkUserEndpoint(
  probe: Probe,
  provider: Provider,
  naming: Naming,
): Promise<Finding> {
  const probed = await probe(userRequest(provider, 'login-relay-check'));
  if ('unreached' in probed)
    return problem(subject, probed.unreached.message, probed.unreached.fix);
  const { status, headers, body } = probed.answer;
  const fix = fixUrl('userUrl', naming);
  const refused = ok(subject, 'refuses a made-up token, as it must');
  const asksForToken = /^bearer\b/i.test(headers['www-authenticate'] ?? '');
  if (asksForToken && status < 500) return refused;
  const misplaced = wrongKind(subject, probed.answer, fix);
  if (misplaced !== undefined) return misplaced;
  if (status !== 200) return refused;
  if (isJwt(headers['content-type'])) {
    return problem(
      subject,
      'signs or encrypts the user info (application/jwt), and the relay reads plain JSON only',
      'let the provider send this client plain JSON',
    );
  }
  const { userRejectedWhen: rejected } = provider;
  const record = parseJsonObject(body);
  if (record === undefined) return problem(subject, 'answers without a JSON object', fix);
  if (rejected && record[rejected.field] === rejected.equals) return refused;
  return problem(subject, 'accepts a made-up token: it does not tell who is logged in', fix);
}
