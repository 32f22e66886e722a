import { isFailure, RelayError } from '../failures/relay-error.ts';
import type { Place, Served } from '../front-ends/front-ends.ts';
import { type RefreshTokenContent, timeLeft } from '../grants/refresh-tokens.ts';
import { type Handler, recordCall } from '../http/context.ts';
import type { RevocableTokens } from '../oauth/revocation.ts';
import type { AccessTokenContent } from '../resources/access-tokens.ts';
import type { Doors } from '../resources/door.ts';
import { looksSealed } from '../sealing/seal.ts';
import type { MachineRequest } from './authenticate-machine.ts';
import { endAtDoors, endRefreshes } from './end-login.ts';
import { type EndpointRequest, frontEndEndpoint, requireParameter } from './front-end-endpoint.ts';
import { ownerOf } from './grantee.ts';

/**
 * `POST /auth/<registration>/revoke`: ends a login at the provider, if the provider can revoke. The token may be a
 * refresh token of the relay, or an access token, also one that another registration issued for the same resource.
 *
 * @param resources the doors of each resource of the registration
 * @see RFC 7009
 */
export function revocationEndpoint(served: Served, resources: readonly Doors[]): Handler {
  const serve = async (request: EndpointRequest) => {
    await revoke(request, requireParameter(request.parameters, 'token'), resources);
    request.ctx.body = {};
  };
  /** Ends a token of a machine, whichever of its secrets or keys got the token. Any other token is ignored. */
  const revokeOfMachine = async (request: MachineRequest) => {
    await endLoginOfAccessToken(request, requireParameter(request.parameters, 'token'), resources);
    request.ctx.body = {};
  };
  // Accept a client that has expired, because its tokens may still be valid at the provider.
  return frontEndEndpoint(served, serve, revokeOfMachine, true);
}

/** Revokes a refresh token or an access token, and ends its login. */
async function revoke(request: EndpointRequest, token: string, resources: readonly Doors[]): Promise<void> {
  const { grants, registration } = request;
  const content = grants.refreshTokens.openExpired(token, ownerOf(request));
  if (content !== undefined) {
    await revokeRefreshToken(request, content);
    return;
  }
  // Nothing else is to be revoked, because only a refresh token contains the provider's tokens.
  if (await endLoginOfAccessToken(request, token, resources)) return;
  // 200 would be wrong, because the login may continue, and no provider knows this token.
  if (looksSealed(token)) throw new RelayError('grant_invalid');
  // A token that the provider has accepted lately needs no limit. Others may be made up.
  if (registration.isGood(token)) await revokeOnce(request, { accessToken: token });
  else await revokeUnknownToken(request, token);
}

/** Ends the login of a refresh token of the relay, at its resource and at the provider. */
async function revokeRefreshToken(request: EndpointRequest, content: RefreshTokenContent): Promise<void> {
  const { ctx, doors, frontEnd, grants, now } = request;
  const door = doors.find(({ resource }) => resource.url === content.ownResource);
  ctx.state.resource = door?.resource.name;
  await endAtDoors(request, content);
  if (content.generation !== undefined) {
    // End all generations, because a thief may have rotated this token, and not every provider can revoke.
    await grants.generations.end(content.login, timeLeft(frontEnd.refreshPolicy, content, now));
  }
  await revokeOnce(request, await endRefreshes(request, content));
}

/** Revokes tokens at the provider, unless that was done a moment ago. */
async function revokeOnce({ ctx, grants, registration }: EndpointRequest, tokens: RevocableTokens): Promise<void> {
  const call = () => registration.revokeToken(tokens, recordCall(ctx)).catch(ignoreUnknown);
  await grants.revocations.revokeOnce(tokens, call);
}

/**
 * Revokes a token that may be an access token of the provider. This is limited by address, because anybody can send
 * made-up tokens, and each costs a call to the provider.
 */
async function revokeUnknownToken(request: EndpointRequest, accessToken: string): Promise<void> {
  const { ctx, frontEnd, registration } = request;
  const call = () => registration.revokeToken({ accessToken }, recordCall(ctx));
  // Any page can send revocations as an open client. They must not use up the limit of the visitor's own programs.
  const group = ctx.req.headers.origin === undefined ? 'programs' : 'pages';
  const address = registration.addressOf(ctx.req);
  await registration.limitRevocation(address, call, frontEnd.client && group).catch(ignoreUnknown);
}

/**
 * Ends the login of an access token for a resource.
 *
 * @returns false if the token is no access token for a resource, or is the token of another front end
 */
async function endLoginOfAccessToken(
  request: EndpointRequest | MachineRequest,
  token: string,
  resources: readonly Doors[],
): Promise<boolean> {
  const { ctx, doors, frontEnd, grants } = request;
  // Decodes the token once for all doors of this registration. The doors of other registrations have other keys.
  const openHere = grants.accessTokens.prepareToOpen(token);
  for (const door of resources.flat()) {
    const { resource } = door;
    const opened = doors.includes(door) ? openHere(resource) : door.read(token);
    if (opened === undefined || !isTokenOf(frontEnd, opened)) continue;
    ctx.state.resource = resource.name;
    ctx.state.person = opened.sub;
    const machine = opened.credential === undefined ? undefined : opened.frontEnd;
    await endAtDoors(request, { login: opened.login, ownResource: resource.url }, machine);
    return true;
  }
  return false;
}

/** Whether a front end got an access token. A machine may have got it with any of its secrets or keys. */
function isTokenOf(frontEnd: Place['frontEnd'], { credential, frontEnd: name, audience }: AccessTokenContent): boolean {
  return credential === undefined ? audience === frontEnd.audience : name === frontEnd.name;
}

/** A token that the provider does not know counts as revoked. @see RFC 7009 §2.2 */
function ignoreUnknown(error: unknown): void {
  if (!isFailure(error, 'token_invalid')) throw error;
}
