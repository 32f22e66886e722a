import { timingSafeEqual } from 'node:crypto';
import { isFailure, RelayError } from '../failures/relay-error.ts';
import type { Served } from '../front-ends/front-ends.ts';
import { readBody } from '../http/body.ts';
import type { Context, Handler } from '../http/context.ts';
import { hashKey } from '../memory/recent.ts';
import { parseBasicCredentials } from '../oauth/authorization-header.ts';
import { type EndpointParameters, parseEndpointParameters } from '../oauth/endpoint-parameters.ts';
import type { Door } from '../resources/door.ts';
import { recordCaller } from './protected-resource.ts';

/**
 * `POST /auth/<registration>/introspect`: tells the server of a resource who has a token. A good secret is never limited:
 * junk that strangers send to a server must not shut the server out.
 *
 * @see RFC 7662 §2
 */
export function introspectionEndpoint({ doors, issuer, limits }: Served): Handler {
  return async (ctx: Context) => {
    const parameters = parseEndpointParameters(ctx.req.headers, await readBody(ctx));
    const door = authenticateServer(ctx, parameters, doors);
    if (door === undefined) {
      await limits.countWrongSecret(ctx.req);
      throw new RelayError('resource_secret_wrong');
    }
    ctx.state.resource = door.resource.name;
    const { token } = parameters;
    if (token === undefined) throw new RelayError('token_request_invalid');
    ctx.body = await described(ctx, door, token, issuer);
  };
}

/** The door of the resource whose server has proved its secret. */
function authenticateServer(
  ctx: Context,
  { client_id, client_secret }: EndpointParameters,
  doors: readonly Door[],
): Door | undefined {
  const [header, ...others] = ctx.req.headersDistinct['authorization'] ?? [];
  const ofBody = client_secret === undefined ? [] : [client_secret];
  // A request must not send a secret in both ways. @see RFC 6749 §2.3
  if (others.length > 0 || (header !== undefined && ofBody.length > 0)) return undefined;
  const { name = client_id, secrets = ofBody } = parseBasicCredentials(header) ?? {};
  const found = doors.find(({ resource }) => resource.name === name);
  const expected = found?.resource.secrets ?? [];
  const isRight = secrets.some((given) => expected.some((one) => timingSafeEqual(digest(given), digest(one.reveal()))));
  return isRight ? found : undefined;
}

/** `timingSafeEqual` compares only what has the same length. */
const digest = (secret: string) => Buffer.from(hashKey(secret));

/** The answer about a token. It does not say why a token is not good. @see RFC 7662 §2.2 */
async function described(ctx: Context, { resource, open }: Door, token: string, issuer: string) {
  try {
    const opened = await open(token);
    recordCaller(ctx, opened);
    const { frontEnd, client, credential, sub, preferred_username, email, groups, iat, exp } = opened;
    return {
      active: true,
      iss: issuer,
      aud: resource.url,
      sub,
      client_id: client ?? frontEnd,
      scope: resource.scope,
      // A machine is nobody's: there is no person whom the server could greet.
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
