import type { Clock } from '../clock.ts';
import { RelayError } from '../errors.ts';
import type { Grants } from '../grants/grants.ts';
import {
  type HeldAccessToken,
  isStillGranted,
  nextRefreshToken,
  type RefreshTokenContent,
} from '../grants/refresh-tokens.ts';
import { type Context, recordCall } from '../http/context.ts';
import type { Registration } from '../login/registration.ts';
import { revokesOnlyAccessTokens } from '../oauth/revocation.ts';
import { refreshScope } from '../oauth/scope.ts';
import type { RefreshGrant } from '../oauth/token-request.ts';
import { admissionTo, failRefresh } from './admission.ts';
import { expectResource, required } from './front-end-endpoint.ts';
import { proofOf, type ServeGrant, withRefreshToken } from './token.ts';

/**
 * `grant_type=refresh_token`: renews the access token of a login. If the provider gave no refresh token,
 * the front end gets its access token again, without a call.
 *
 * @param tokenUrl the endpoint's public address
 * @see RFC 6749 §6, RFC 9449 §5
 */
export function refreshLogin(
  registered: Registration,
  grants: Grants,
  tokenUrl: string,
  now: Clock,
): ServeGrant {
  const { generations, refreshes, refreshTokens } = grants;

  const checkKey = async (ctx: Context, { thumbprint }: RefreshTokenContent): Promise<void> => {
    const proved = await proofOf(ctx, grants, tokenUrl);
    if (thumbprint === undefined || thumbprint === proved) return;
    throw new RelayError(proved === undefined ? 'proof_missing' : 'key_mismatch');
  };

  return async (ctx, frontEnd, parameters) => {
    const { refreshPolicy } = frontEnd;
    if (refreshPolicy === undefined) throw new RelayError('grant_unsupported');
    const given = required(parameters, 'refresh_token');
    const registration = registered.pinned();
    const owner = { registration: registration.audience(), frontEnd: frontEnd.audience };
    const login = refreshTokens.open(given, owner);
    if (login === undefined || !isStillGranted(refreshPolicy, login, now)) {
      throw new RelayError('grant_invalid');
    }
    const issue = (content: RefreshTokenContent) => refreshTokens.issue(content, owner);
    // Before the memory of refreshes gives tokens without a call.
    await checkKey(ctx, login);
    if (frontEnd.isNative) expectResource(parameters, login);
    const granted = login.scope ?? frontEnd.scope ?? registration.provider().scope;
    const part = refreshScope(parameters.scope, granted);
    const scope = registration.scopeWithAccess(part, granted, frontEnd);
    const { generation, providerToken } = login;
    const last = generation && (await generations.last(generation));
    /** Replaces the refresh token, if it is the last one of its login and the provider did not. */
    const replaced = async (next: RefreshTokenContent): Promise<RefreshTokenContent> => {
      const isLast = last !== undefined && last.number === generation?.number;
      if (!isLast || refreshTokenOf(next) !== refreshTokenOf(login))
        return { ...next, generation: last };
      const lifetime = next.endsAt * 1000 - now();
      return { ...next, generation: await generations.replace(last, lifetime) };
    };
    const admission = admissionTo({ registration, frontEnd }, ctx);
    if (!('refreshToken' in providerToken)) {
      await admission?.(providerToken).catch((error: unknown) => failRefresh(error, false));
      const token = { ...again(providerToken, now), scope: login.scope };
      return withRefreshToken(issue, token, await replaced(login), now);
    }
    const { thumbprint } = login;
    const refresh = { ...owner, thumbprint, refreshToken: providerToken.refreshToken, scope };
    const call = (grant: RefreshGrant) => registration.refreshToken(grant, recordCall(ctx));
    const refreshed = await refreshes
      .join(refresh, call, registration.isGood, admission)
      .catch((error: unknown) => failRefresh(error, true));
    const keepsAccessToken = revokesOnlyAccessTokens(registration.provider());
    const policy = { ...refreshPolicy, keepsAccessToken };
    const content = nextRefreshToken(policy, login, refreshed, now);
    return withRefreshToken(issue, refreshed, await replaced(content), now);
  };
}

/** The provider's refresh token in one of the relay, if there is one. */
function refreshTokenOf({ providerToken }: RefreshTokenContent): string | undefined {
  return 'refreshToken' in providerToken ? providerToken.refreshToken : undefined;
}

/** The access token as it was granted, with the seconds that it has left. */
function again({ accessToken, tokenType, endsAt }: HeldAccessToken, now: Clock) {
  const left = endsAt === undefined ? undefined : Math.floor(endsAt - now() / 1000);
  // The end may be between the opening of the refresh token and this moment.
  const expiresIn = left && Math.max(left, 0);
  return { accessToken, tokenType, expiresIn };
}
