import type { Agent } from 'node:http';
import * as v from 'valibot';
import {
  codeVerifier,
  sealCode,
  sealRefreshToken,
} from '../../test/harness/login/sealed-grants.ts';
import type { RawAnswer } from './answer.ts';
import { call } from './call.ts';
import { stateKey } from './relay.ts';
import { faultOf, type Targets } from './rules.ts';

const endpoint = '/auth/provider';
const names = { client_id: 'app' };
const seconds = v.optional(v.pipe(v.number(), v.minValue(0)));
const tokenAnswer = v.strictObject({
  access_token: v.pipe(v.string(), v.nonEmpty()),
  token_type: v.pipe(v.string(), v.nonEmpty()),
  expires_in: seconds,
  scope: v.optional(v.string()),
  refresh_token: v.optional(v.string()),
  refresh_token_expires_in: seconds,
});
const secret = /hostile-|renewed-/;

/**
 * Makes the relay redeem a code, refresh a login or revoke a token. The number determines the answer of the
 * provider.
 *
 * @returns the kind of the call, and its outcome
 */
export async function endpointCall(
  { port, targets }: { readonly port: number; readonly targets: Targets },
  number: number,
  agent: Agent,
): Promise<readonly [kind: string, end: string]> {
  const [kind, path, form] = requestOf(number, targets.providerOrigin);
  const answer = await call(port, endpoint + path, {}, agent, form);
  const permitted = [200, 400, 502, 504].includes(answer.status);
  const fault =
    faultOf(answer, targets) ??
    faultOfEndpoint(kind, answer) ??
    (permitted ? undefined : `status ${answer.status}`);
  return [kind, fault === undefined ? String(answer.status) : `fault: ${fault}`];
}

type Form = Readonly<Record<string, string>>;

function requestOf(
  number: number,
  providerOrigin: string,
): [kind: string, path: string, form: Form] {
  const provider = { tokenUrl: `${providerOrigin}/token` };
  const providerCode = `hostile-${number}`;
  if (number % 3 === 0) {
    const grant = { grant_type: 'authorization_code', code_verifier: codeVerifier };
    const code = sealCode(provider, { key: stateKey, providerCode });
    return ['redemption', '/token', { ...names, ...grant, code }];
  }
  const providerToken = { refreshToken: providerCode };
  const token = sealRefreshToken(provider, stateKey, { providerToken });
  if (number % 3 === 1) return ['revocation', '/revoke', { ...names, token }];
  const grant = { grant_type: 'refresh_token', refresh_token: token };
  return ['refresh', '/token', { ...names, ...grant }];
}

/** Checks that an answer is valid for OAuth clients, and has nothing that only the provider may see. */
function faultOfEndpoint(kind: string, { status, body }: RawAnswer): string | undefined {
  const answer: unknown = JSON.parse(body);
  if (typeof answer !== 'object' || answer === null) return 'no object';
  if (status >= 400) return 'error' in answer ? undefined : `no error: ${body}`;
  if (kind === 'revocation') return body === '{}' ? undefined : body;
  const isRight = v.is(tokenAnswer, answer) && !secret.test(answer.refresh_token ?? '');
  return isRight ? undefined : body;
}
