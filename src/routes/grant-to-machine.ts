import { machineIdentity } from '../access/identity.ts';
import { nowInSeconds } from '../clock.ts';
import { audienceOfMachine } from '../front-ends/machine-credentials.ts';
import { createLoginId } from '../grants/refresh-tokens.ts';
import { requireResource } from '../resources/resource.ts';
import type { MachineRequest } from './authenticate-machine.ts';
import type { Granted } from './granted-token.ts';

/**
 * `grant_type=client_credentials`: grants a machine an access token for one of its resources. It gets no refresh token,
 * because it can always ask again.
 *
 * @throws {RelayError} `resource_refused`
 * @see RFC 6749 §4.4
 */
export function grantToMachine({ ctx, frontEnd, parameters, credential, grants, now }: MachineRequest): Granted {
  const { name, resources } = frontEnd;
  const resource = requireResource(resources, parameters.resource);
  const identity = machineIdentity(name);
  ctx.state.resource = resource.name;
  ctx.state.person = identity.sub;
  const iat = nowInSeconds(now);
  const content = {
    frontEnd: name,
    audience: audienceOfMachine(name, credential),
    credential,
    login: createLoginId(),
    ...identity,
    iat,
    exp: iat + resource.lifetime,
  };
  return {
    accessToken: grants.accessTokens.issue(content, resource),
    tokenType: 'Bearer',
    expiresIn: resource.lifetime,
    scope: resource.scope,
    identity,
    refreshToken: undefined,
    refreshExpiresIn: undefined,
  };
}
