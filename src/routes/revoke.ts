import type { Middleware } from 'koa';
import { RelayError } from '../errors.ts';
import type { Grants } from '../grants/grants.ts';
import type { RefreshTokenContent } from '../grants/refresh-tokens.ts';
import { type RequestState, recordCall } from '../http/context.ts';
import type { Registration } from '../login/registration.ts';
import type { RevocableTokens } from '../oauth/revocation.ts';
import { looksSealed } from '../sealed.ts';
import { frontEndEndpoint, required } from './front-end-endpoint.ts';
import type { FrontEnds } from './front-ends.ts';

/**
 * `POST /auth/<registration>/revoke`: ends a login at the provider, if the provider can. The token may be
 * a refresh token of the relay, or an access token.
 *
 * @see RFC 7009
 */
export function revocationEndpoint(
  registered: Registration,
  frontEnds: FrontEnds,
  { redirectUriOf, refreshes, refreshTokens, revocations }: Grants,
): Middleware<RequestState> {
  return frontEndEndpoint(frontEnds, redirectUriOf, async (ctx, frontEnd, parameters) => {
    const token = required(parameters, 'token');
    const registration = registered.pinned();
    const owner = { registration: registration.audience(), frontEnd: frontEnd.audience };
    const revoke = (tokens: RevocableTokens) => registration.revokeToken(tokens, recordCall(ctx));
    const login = refreshTokens.openExpired(token, owner);
    if (login !== undefined) {
      const tokens = await newestTokens(login, owner);
      await revocations.once(tokens, () => revoke(tokens).catch(unlessUnknown));
    } else if (looksSealed(token)) {
      // The login may live on, so 200 would not be true. And no provider knows the token.
      throw new RelayError('grant_invalid');
    } else {
      // Limited, because anybody can send tokens that the provider does not know.
      const asked = () => revoke({ accessToken: token });
      await registration.limitRevocation(ctx.req, asked).catch(unlessUnknown);
    }
    ctx.body = {};
  });

  /** Another tab may have refreshed the login a moment ago: that must not save it. */
  async function newestTokens(
    { providerToken, thumbprint }: RefreshTokenContent,
    owner: { readonly registration: string; readonly frontEnd: string },
  ): Promise<RevocableTokens> {
    if (!('refreshToken' in providerToken)) return providerToken;
    const { refreshToken } = providerToken;
    return (await refreshes.end({ ...owner, thumbprint, refreshToken })) ?? providerToken;
  }
}

/** A token that the provider does not know is as good as revoked. @see RFC 7009 §2.2 */
function unlessUnknown(error: unknown): void {
  if (!(error instanceof RelayError) || error.code !== 'token_invalid') throw error;
}
