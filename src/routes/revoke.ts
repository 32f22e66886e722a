import { isFailure, RelayError } from '../failures/relay-error.ts';
import type { Served } from '../front-ends/front-ends.ts';
import { timeLeft } from '../grants/refresh-tokens.ts';
import { type Handler, recordCall } from '../http/context.ts';
import type { RevocableTokens } from '../oauth/revocation.ts';
import { looksSealed } from '../sealing/sealed.ts';
import { type EndpointRequest, frontEndEndpoint, required } from './front-end-endpoint.ts';
import { endAtDoors, ownerOf } from './granted-token.ts';
import { endRefreshes } from './refresh-login.ts';

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
    const token = required(parameters, 'token');
    const atProvider = (tokens: RevocableTokens) =>
      registration.revokeToken(tokens, recordCall(ctx));
    const login = refreshTokens.openExpired(token, ownerOf(request));
    if (login !== undefined) {
      const door = request.doors.find(({ resource }) => resource.url === login.ownResource);
      ctx.state.resource = door?.resource.name;
      await endAtDoors(request, login);
      if (login.generation !== undefined) {
        // A thief may have replaced it long ago, and not every provider revokes.
        await generations.end(login.login, timeLeft(frontEnd.refreshPolicy, login, now));
      }
      const tokens = await endRefreshes(request, login);
      await revocations.once(tokens, () => atProvider(tokens).catch(unlessUnknown));
    } else if (await endedByAccessToken(request, token)) {
      // Only the refresh token holds what the provider could revoke.
    } else if (looksSealed(token)) {
      // The login may live on, so 200 would not be true. And no provider knows the token.
      throw new RelayError('grant_invalid');
    } else if (registration.isGood(token)) {
      const tokens = { accessToken: token };
      await revocations.once(tokens, () => atProvider(tokens).catch(unlessUnknown));
    } else {
      // Limited, because anybody can send tokens that the provider does not know.
      const asked = () => atProvider({ accessToken: token });
      const address = registration.addressOf(ctx.req);
      // What a page of anybody sends must not keep the programs of its visitors from logging out.
      const by = ctx.req.headers.origin === undefined ? 'programs' : 'pages';
      await registration
        .limitRevocation(address, asked, frontEnd.client && by)
        .catch(unlessUnknown);
    }
    ctx.body = {};
  };
  // The tokens of a client that has ended may live on at the provider.
  return frontEndEndpoint(served, revoke, true);
}

/** Ends the login of an access token for a resource. @returns whether it is one of the front end */
async function endedByAccessToken(request: EndpointRequest, token: string): Promise<boolean> {
  const { ctx, frontEnd, grants, doors } = request;
  for (const { resource } of doors) {
    const opened = grants.accessTokens.open(token, resource);
    if (opened?.audience !== frontEnd.audience) continue;
    ctx.state.resource = resource.name;
    ctx.state.person = opened.sub;
    await endAtDoors(request, { login: opened.login, ownResource: resource.url });
    return true;
  }
  return false;
}

/** A token that the provider does not know is as good as revoked. @see RFC 7009 §2.2 */
function unlessUnknown(error: unknown): void {
  if (!isFailure(error, 'token_invalid')) throw error;
}
