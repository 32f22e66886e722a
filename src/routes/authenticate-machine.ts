import { isFailure, RelayError, undefinedIfFailed } from '../failures/relay-error.ts';
import type { FrontEnd } from '../front-ends/front-end.ts';
import type { Served } from '../front-ends/front-ends.ts';
import { findSecret, hashPublicKey, type MachineCredentials } from '../front-ends/machine-credentials.ts';
import type { Context } from '../http/context.ts';
import { forbidReading } from '../http/cors.ts';
import { type ClaimedCredentials, readClientCredentials } from '../oauth/client-credentials.ts';
import type { EndpointParameters } from '../oauth/endpoint-parameters.ts';

/** The detail of the failure if a machine starts a login, or requests a token for a person. */
export const machineDetail = 'This front end is a machine: it logs nobody in, and gets tokens with client_credentials.';

/** A request of an authenticated machine. No provider is involved. */
export interface MachineRequest extends Served {
  readonly ctx: Context;
  readonly parameters: EndpointParameters;
  readonly frontEnd: FrontEnd;
  /** The id of the proved secret or key. */
  readonly credential: string;
}

/**
 * Authenticates a machine. Correct credentials are never limited, so that strangers who guess secrets cannot lock the
 * machine out.
 *
 * @returns undefined if another kind of front end sends the request
 * @throws {RelayError} `machine_secret_wrong`, `machine_assertion_invalid`, `rate_limited`, `client_unauthorized`, or
 *   `origin_foreign`
 * @see RFC 6749 §2.3
 */
export async function authenticateMachine(
  served: Served,
  ctx: Context,
  parameters: EndpointParameters,
): Promise<MachineRequest | undefined> {
  const { frontEnds, limits } = served;
  if (frontEnds.machines.length === 0) return undefined;
  const claimed = readClientCredentials(ctx.req.headersDistinct['authorization'] ?? [], parameters);
  const frontEnd = frontEnds.findMachine(claimed.name);
  if (frontEnd === undefined && parameters.grant_type !== 'client_credentials') return undefined;
  expectNoPage(ctx);
  ctx.state.frontEnd = frontEnd?.name;
  try {
    if (frontEnd?.credentials === undefined) throw failureOfOtherClient(served, claimed);
    const credential = await verifyCredentials(served, frontEnd.name, frontEnd.credentials, claimed);
    return { ...served, ctx, parameters, frontEnd, credential };
  } catch (error) {
    if (isFailure(error, 'machine_secret_wrong', 'machine_assertion_invalid')) await limits.countWrongSecret(ctx.req);
    throw error;
  }
}

/**
 * Refuses requests of pages. Otherwise, a hostile page could make its visitors send wrong secrets, and so use up the
 * wrong secrets that the limit allows their addresses.
 *
 * @throws {RelayError} `origin_foreign`
 */
function expectNoPage(ctx: Context): void {
  if (ctx.req.headers.origin === undefined) return;
  forbidReading(ctx);
  throw new RelayError('origin_foreign', { detail: 'A machine has no page: its requests have no Origin.' });
}

/** The failure of a client that is no machine. Only a known client learns why; for others, the secret is wrong. */
function failureOfOtherClient({ frontEnds }: Served, { name = '' }: ClaimedCredentials): RelayError {
  const evenIfExpired = true;
  const find = () => frontEnds.requireForClient(name, () => undefined, evenIfExpired);
  const isKnown = undefinedIfFailed(find) !== undefined;
  const detail = 'Only machines get tokens with client_credentials: front ends with kind: machine.';
  return isKnown ? new RelayError('client_unauthorized', { detail }) : new RelayError('machine_secret_wrong');
}

/**
 * Verifies a secret or an assertion.
 *
 * @returns the id of the secret or key
 * @throws {RelayError} `machine_secret_wrong` or `machine_assertion_invalid`
 */
async function verifyCredentials(
  { grants, issuer }: Served,
  name: string,
  credentials: MachineCredentials,
  { secrets, assertion }: ClaimedCredentials,
): Promise<string> {
  const secretId = secrets && findSecret(credentials, secrets);
  if (secretId !== undefined) return secretId;
  if (assertion !== undefined) {
    for (const key of credentials.keys) {
      if (await grants.assertions.verify(assertion, key, { name, issuer })) return hashPublicKey(key);
    }
  }
  throw new RelayError('machine_secret_wrong');
}
