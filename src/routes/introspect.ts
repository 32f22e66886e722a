import { timingSafeEqual } from 'node:crypto';
import { isFailure, RelayError } from '../failures/relay-error.ts';
import type { Served } from '../front-ends/front-ends.ts';
import { readBody } from '../http/body.ts';
import type { Context, Handler } from '../http/context.ts';
import { hashKey } from '../memory/expiring-map.ts';
import { parseBasicCredentials } from '../oauth/authorization-header.ts';
import { type EndpointParameters, parseEndpointParameters } from '../oauth/endpoint-parameters.ts';
import { type Doors, enter } from '../resources/door.ts';
import { recordCaller } from './protected-resource.ts';

/**
 * `POST /auth/<registration>/introspect`: tells the server of a resource whose token it got, even if the token is of
 * another registration of the resource. A correct secret is never limited, so that strangers who send made-up tokens to
 * the server cannot shut it out.
 *
 * @param resources the doors of each resource of the registration
 * @see RFC 7662 §2
 */
export function introspectionEndpoint({ limits }: Served, resources: readonly Doors[]): Handler {
  return async (ctx: Context) => {
    const parameters = parseEndpointParameters(ctx.req.headers, await readBody(ctx));
    const doors = authenticateServer(ctx, parameters, resources);
    if (doors === undefined) {
      await limits.countWrongSecret(ctx.req);
      throw new RelayError('resource_secret_wrong');
    }
    ctx.state.resource = doors[0].resource.name;
    const { token } = parameters;
    if (token === undefined) throw new RelayError('token_request_invalid');
    ctx.body = await describeToken(ctx, doors, token);
  };
}

/**
 * Authenticates the server of a resource by its secret.
 *
 * @returns the doors of the resource; undefined if the secret is wrong
 */
function authenticateServer(
  ctx: Context,
  { client_id, client_secret }: EndpointParameters,
  resources: readonly Doors[],
): Doors | undefined {
  const [header, ...others] = ctx.req.headersDistinct['authorization'] ?? [];
  const secretsInBody = client_secret === undefined ? [] : [client_secret];
  // A request must not send a secret in both ways. @see RFC 6749 §2.3
  if (others.length > 0 || (header !== undefined && secretsInBody.length > 0)) return undefined;
  const { name = client_id, secrets = secretsInBody } = parseBasicCredentials(header) ?? {};
  const found = resources.find(([{ resource }]) => resource.name === name);
  const expected = (found?.[0].resource.secrets ?? []).map((secret) => hashSecret(secret.reveal()));
  const given = secrets.map(hashSecret);
  const isCorrect = given.some((one) => expected.some((other) => timingSafeEqual(one, other)));
  return isCorrect ? found : undefined;
}

/** Hashes a secret, because `timingSafeEqual` only compares buffers of one length. */
const hashSecret = (secret: string) => Buffer.from(hashKey(secret));

/** Describes a token to the server of a resource. A token that opens no door of the resource is inactive. */
async function describeToken(ctx: Context, doors: Doors, token: string) {
  try {
    const entered = await enter(doors, token);
    recordCaller(ctx, entered);
    const { issuer, resource } = entered.door;
    const { frontEnd, client, credential, sub, preferred_username, email, groups, iat, exp } = entered.opened;
    return {
      active: true,
      iss: issuer,
      aud: resource.url,
      sub,
      client_id: client ?? frontEnd,
      scope: resource.scope,
      // A machine has no person whom the server could greet.
      username: credential === undefined ? preferred_username : undefined,
      email,
      groups,
      iat,
      exp,
      token_type: 'Bearer',
    };
  } catch (error) {
    if (!isFailure(error, 'resource_token_invalid', 'resource_token_expired')) throw error;
    // For the log and the metrics alone.
    ctx.state.failure = error.code;
    return { active: false };
  }
}
