import { isFailure, RelayError } from '../failures/relay-error.ts';
import type { Served } from '../front-ends/front-ends.ts';
import { timeLeft } from '../grants/refresh-tokens.ts';
import { type Handler, recordCall } from '../http/context.ts';
import type { RevocableTokens } from '../oauth/revocation.ts';
import { looksSealed } from '../sealing/sealed.ts';
import type { MachineRequest } from './authenticate-machine.ts';
import { endAtDoors, endRefreshes } from './end-login.ts';
import { type EndpointRequest, frontEndEndpoint, requireParameter } from './front-end-endpoint.ts';
import { ownerOf } from './grantee.ts';

/**
 * `POST /auth/<registration>/revoke`: ends a login at the provider, if the provider can revoke. The token may be a
 * refresh token of the relay, or an access token.
 *
 * @see RFC 7009
 */
export function revocationEndpoint(served: Served): Handler {
  const { generations, refreshTokens, revocations } = served.grants;
  const revoke = async (request: EndpointRequest) => {
    const { ctx, frontEnd, parameters, registration, now } = request;
    const token = requireParameter(parameters, 'token');
    const atProvider = (tokens: RevocableTokens) => registration.revokeToken(tokens, recordCall(ctx));
    const onceAtProvider = (tokens: RevocableTokens) =>
      revocations.revokeOnce(tokens, () => atProvider(tokens).catch(ignoreUnknown));
    const content = refreshTokens.openExpired(token, ownerOf(request));
    if (content !== undefined) {
      const door = request.doors.find(({ resource }) => resource.url === content.ownResource);
      ctx.state.resource = door?.resource.name;
      await endAtDoors(request, content);
      if (content.generation !== undefined) {
        // End all generations: a thief may have rotated this token, and not every provider can revoke.
        await generations.end(content.login, timeLeft(frontEnd.refreshPolicy, content, now));
      }
      await onceAtProvider(await endRefreshes(request, content));
    } else if (await endedByAccessToken(request, token)) {
      // Nothing is left to do, because only a refresh token contains what the provider could revoke.
    } else if (looksSealed(token)) {
      // 200 would be wrong, because the login may continue, and no provider knows this token.
      throw new RelayError('grant_invalid');
    } else if (registration.isGood(token)) {
      await onceAtProvider({ accessToken: token });
    } else {
      // Limited by address, because anybody can send made-up tokens, and each costs a call to the provider.
      const asked = () => atProvider({ accessToken: token });
      const address = registration.addressOf(ctx.req);
      // Any page can send revocations as an open client. They must not use up those of the visitor's own programs.
      const by = ctx.req.headers.origin === undefined ? 'programs' : 'pages';
      await registration.limitRevocation(address, asked, frontEnd.client && by).catch(ignoreUnknown);
    }
    ctx.body = {};
  };
  // Accept a client that has expired, because its tokens may still be valid at the provider.
  return frontEndEndpoint(served, revoke, revokeOfMachine, true);
}

/** Ends a token of a machine, whichever of its secrets or keys got it. Any other token is ignored. */
async function revokeOfMachine(request: MachineRequest): Promise<void> {
  await endedByAccessToken(request, requireParameter(request.parameters, 'token'));
  request.ctx.body = {};
}

/** Ends the login of an access token for a resource. @returns whether the token belongs to the front end */
async function endedByAccessToken(request: EndpointRequest | MachineRequest, token: string): Promise<boolean> {
  const { ctx, frontEnd, grants, doors } = request;
  const open = grants.accessTokens.reader(token);
  for (const { resource } of doors) {
    const opened = open(resource);
    const isOwn = opened?.credential ? opened.frontEnd === frontEnd.name : opened?.audience === frontEnd.audience;
    if (opened === undefined || !isOwn) continue;
    ctx.state.resource = resource.name;
    ctx.state.person = opened.sub;
    const machine = opened.credential && opened.frontEnd;
    await endAtDoors(request, { login: opened.login, ownResource: resource.url }, machine);
    return true;
  }
  return false;
}

/** A token that the provider does not know counts as revoked. @see RFC 7009 §2.2 */
function ignoreUnknown(error: unknown): void {
  if (!isFailure(error, 'token_invalid')) throw error;
}
