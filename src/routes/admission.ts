import type { Allow } from '../access/allow.ts';
import { isFailure, RelayError } from '../failures/relay-error.ts';
import type { FrontEndRefresh } from '../grants/refresh-chain.ts';
import type { Refreshed } from '../grants/refresh-results.ts';
import type { Refreshes } from '../grants/refreshes.ts';
import { type Context, recordCall } from '../http/context.ts';
import type { Registration } from '../login/registration.ts';
import type { RevocableTokens } from '../oauth/revocation.ts';
import type { RefreshGrant } from '../oauth/token-request.ts';

/** Where a person logs in. */
interface Place {
  readonly registration: Registration;
  readonly frontEnd: { readonly name: string; readonly allow: Allow | undefined };
}

type Tokens = RevocableTokens & { readonly accessToken: string };

/**
 * Lets only those pass who may log in at the registration and at the front end. The tokens of a refused person are
 * revoked.
 *
 * @returns undefined if everybody may log in. It throws a `RelayError`: `access_refused`, `access_unchecked`, or
 *   `token_invalid` if the provider does not know the access token
 */
function admissionTo({ registration, frontEnd }: Place, ctx: Context) {
  const allows = registration.allowsAt(frontEnd);
  const owners = [`providers.${registration.name}`, `front-ends.${frontEnd.name}`];
  if (allows.every((allow) => allow === undefined)) return undefined;
  return async (tokens: Tokens): Promise<void> => {
    ctx.state.access = 'unchecked';
    const { accessToken } = tokens;
    const { refusedBy, person } = await registration.verdictOn(accessToken, allows, (call) => {
      // The record has room for one call: the one that decides.
      const hasFailed = call.outcome !== 'answered' || (call.status ?? 0) >= 400;
      if (hasFailed || ctx.state.providerCall === undefined) ctx.state.providerCall = call;
    });
    ctx.state.access = refusedBy === undefined ? 'allowed' : 'refused';
    if (refusedBy === undefined) return;
    ctx.state.refusedBy = owners[refusedBy];
    revokeSilently(registration, tokens);
    throw new RelayError('access_refused', { person });
  };
}

/** The same at a login: the provider must know the tokens, which it has issued a moment ago. */
export async function admit(place: Place, ctx: Context, tokens: Tokens): Promise<void> {
  try {
    await admissionTo(place, ctx)?.(tokens);
  } catch (error) {
    throw isFailure(error, 'token_invalid') ? new RelayError('access_unchecked') : error;
  }
}

/**
 * Renews the tokens of a login at the provider. Whoever may not log in any more has to log in again.
 *
 * @param tokens the access token counts without a refresh token: then, it is only asked whether the person may still log
 *   in
 * @param address that the call counts for, if it is known
 * @returns undefined if there is nothing to renew
 */
export async function renew(
  place: Place,
  ctx: Context,
  refreshes: Refreshes,
  { refreshToken, accessToken = '' }: RevocableTokens,
  login: Omit<FrontEndRefresh, 'refreshToken'>,
  address: string | undefined,
): Promise<Refreshed | undefined> {
  const { registration } = place;
  refreshes.count(login.login);
  const admission = admissionTo(place, ctx);
  try {
    if (refreshToken !== undefined) {
      const call = async (grant: RefreshGrant) => {
        await registration.countRefresh(address);
        return await registration.requestToken(grant, recordCall(ctx));
      };
      return await refreshes.join({ ...login, refreshToken }, call, registration.isGood, admission);
    }
    await admission?.({ accessToken });
    return undefined;
  } catch (error) {
    if (isFailure(error, 'access_refused')) throw new RelayError('access_ended');
    if (!isFailure(error, 'token_invalid')) throw error;
    // A new access token cannot be invalid.
    throw new RelayError(refreshToken === undefined ? 'refresh_refused' : 'access_unchecked');
  }
}

/** Revokes the tokens of a login. Nobody waits for it, or gets its failure. */
export function revokeSilently(
  registration: Registration,
  { accessToken, refreshToken }: RevocableTokens,
): void {
  // Some providers keep the access token when its refresh token is revoked. @see RFC 7009 §2.1
  for (const token of [{ refreshToken }, { accessToken }]) {
    registration.revokeToken(token, () => {}).catch(() => {});
  }
}
