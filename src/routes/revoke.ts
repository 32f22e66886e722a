import { isFailure, RelayError } from '../failures/relay-error.ts';
import type { Served } from '../front-ends/front-ends.ts';
import { timeLeft } from '../grants/refresh-tokens.ts';
import { type Handler, recordCall } from '../http/context.ts';
import type { RevocableTokens } from '../oauth/revocation.ts';
import { looksSealed } from '../sealing/sealed.ts';
import { endAtDoors, endRefreshes } from './end-login.ts';
import { type EndpointRequest, frontEndEndpoint, requireParameter } from './front-end-endpoint.ts';
import { ownerOf } from './grantee.ts';
import type { MachineRequest } from './machine.ts';

/**
 * `POST /auth/<registration>/revoke`: ends a login at the provider, if the provider can. The token may be
 * a refresh token of the relay, or an access token.
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
      revocations.once(tokens, () => atProvider(tokens).catch(ignoreUnknown));
    const content = refreshTokens.openExpired(token, ownerOf(request));
    if (content !== undefined) {
      const door = request.doors.find(({ resource }) => resource.url === content.ownResource);
      ctx.state.resource = door?.resource.name;
      await endAtDoors(request, content);
      if (content.generation !== undefined) {
        // A thief may have rotated it long ago, and not every provider revokes.
        await generations.end(content.login, timeLeft(frontEnd.refreshPolicy, content, now));
      }
      await onceAtProvider(await endRefreshes(request, content));
    } else if (await endedByAccessToken(request, token)) {
      // Nothing is left to do: only a refresh token holds what the provider could revoke.
    } else if (looksSealed(token)) {
      // The login may live on, so 200 would not be true. And no provider knows the token.
      throw new RelayError('grant_invalid');
    } else if (registration.isGood(token)) {
      await onceAtProvider({ accessToken: token });
    } else {
      // Limited, because anybody can send tokens that the provider does not know.
      const asked = () => atProvider({ accessToken: token });
      const address = registration.addressOf(ctx.req);
      // Any page can send revocations of an open client: they must not use up those of its visitors' programs.
      const by = ctx.req.headers.origin === undefined ? 'programs' : 'pages';
      await registration.limitRevocation(address, asked, frontEnd.client && by).catch(ignoreUnknown);
    }
    ctx.body = {};
  };
  // The tokens of a client that has ended may live on at the provider.
  return frontEndEndpoint(served, revoke, revokeOfMachine, true);
}

/** Ends a token of a machine, whichever of its secrets or keys got it. Any other is not known to it. */
async function revokeOfMachine(request: MachineRequest): Promise<void> {
  await endedByAccessToken(request, requireParameter(request.parameters, 'token'));
  request.ctx.body = {};
}

/** Ends the login of an access token for a resource. @returns whether it is one of the front end */
async function endedByAccessToken(request: EndpointRequest | MachineRequest, token: string): Promise<boolean> {
  const { ctx, frontEnd, grants, doors } = request;
  const open = grants.accessTokens.reader(token);
  for (const { resource } of doors) {
    const opened = open(resource);
    const isOwn = opened?.credential ? opened.frontEnd === frontEnd.name : opened?.audience === frontEnd.audience;
    if (opened === undefined || !isOwn) continue;
    ctx.state.resource = resource.name;
    ctx.state.person = opened.sub;
    await endAtDoors(request, { login: opened.login, ownResource: resource.url });
    return true;
  }
  return false;
}

/** A token that the provider does not know is as good as revoked. @see RFC 7009 §2.2 */
function ignoreUnknown(error: unknown): void {
  if (!isFailure(error, 'token_invalid')) throw error;
}
