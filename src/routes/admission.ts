import type { Evidence } from '../access/access.ts';
import type { Allow } from '../access/allow.ts';
import type { Identity } from '../access/identity.ts';
import { isFailure, RelayError, refusalsAtProvider } from '../failures/relay-error.ts';
import type { FrontEndRefresh } from '../grants/refresh-chain.ts';
import type { Refreshed } from '../grants/refresh-results.ts';
import type { Refreshes } from '../grants/refreshes.ts';
import { type Context, recordCall } from '../http/context.ts';
import { limits } from '../limits.ts';
import type { Registration } from '../login/registration.ts';
import { eachAlone, type RevocableTokens } from '../oauth/revocation.ts';
import type { RefreshGrant } from '../oauth/token-request.ts';
import type { Resource } from '../resources/resource.ts';
import type { ObserveCall } from '../upstream/messages.ts';

/** Where a person logs in, and what for. */
interface Destination {
  readonly registration: Registration;
  readonly frontEnd: { readonly name: string; readonly allow: Allow | undefined };
  /** What the login is for. Undefined: the provider's API. */
  readonly resource?: Resource | undefined;
}

type Tokens = RevocableTokens & Evidence;

/**
 * Creates the check whether a person may log in at the registration and at the front end, and may use the resource. It
 * revokes the tokens of a person who may not.
 *
 * @returns undefined if there is nothing to check. The check gives who the person is, if the login is for a resource, or
 *   throws a `RelayError`: `access_refused`, `access_unchecked`, `identity_unchecked` in its place if the login is for a
 *   resource, `identity_unknown`, or `token_invalid` if the provider does not know the access token
 */
function createAdmission({ registration, frontEnd, resource }: Destination, ctx: Context) {
  const allows = registration.allowsAt(frontEnd, resource);
  const question = resource?.identity;
  const isOpenToAll = allows.every((allow) => allow === undefined);
  if (question === undefined && isOpenToAll) return undefined;
  // Whose rule each of `allows` is.
  const owners = [`providers.${registration.name}`, `front-ends.${frontEnd.name}`, `resources.${resource?.name}`];
  const observe: ObserveCall = (call) => {
    // The log has room for one call of the request: an earlier one, unless one of these fails.
    const hasFailed = call.outcome !== 'answered' || (call.status ?? 0) >= 400;
    if (hasFailed || ctx.state.providerCall === undefined) ctx.state.providerCall = call;
  };
  return async (tokens: Tokens): Promise<Identity | undefined> => {
    if (!isOpenToAll) ctx.state.access = 'unchecked';
    const verdict = await registration
      .judge(tokens, allows, question, observe)
      .catch(resource === undefined ? undefined : failUnchecked);
    const { refusedBy, person, identity, fields } = verdict;
    ctx.state.person = identity?.sub;
    if (!isOpenToAll) ctx.state.access = refusedBy === undefined ? 'allowed' : 'refused';
    if (refusedBy === undefined) return requireFitting(identity);
    ctx.state.refusedBy = owners[refusedBy];
    revokeSilently(registration, tokens);
    throw new RelayError('access_refused', { person, fields });
  };
}

/** Fails before the relay issues or rotates a token, so that an identity that does not fit ends no login. */
function requireFitting(identity: Identity | undefined): Identity | undefined {
  const size = Buffer.byteLength(JSON.stringify(identity ?? ''));
  if (size > limits.identitySize) throw new RelayError('identity_too_long');
  return identity;
}

/** Without an identity there is no token. This failure makes clients try again, without a browser. */
function failUnchecked(error: unknown): never {
  throw isFailure(error, 'access_unchecked') ? new RelayError('identity_unchecked') : error;
}

/**
 * Admits a person at a login, or throws as the check of `createAdmission` does. The provider must know the tokens: it has
 * issued them a moment ago. If this fails, nobody gets the tokens, so they are revoked.
 *
 * @param nonce that of the login, if its browser has shown it
 * @param areKeptAfter whether they are kept after a failure, because a later attempt may get them
 * @returns who the person is, if the login is for a resource
 */
export async function admit(
  place: Destination,
  ctx: Context,
  tokens: Omit<Tokens, 'login'>,
  nonce: string | undefined,
  areKeptAfter = (_error: unknown): boolean => false,
): Promise<Identity | undefined> {
  try {
    return await createAdmission(place, ctx)?.({ ...tokens, login: { nonce } });
  } catch (error) {
    const failure = isFailure(error, 'token_invalid') ? new RelayError('access_unchecked') : error;
    // The check has revoked the tokens of a person who may not log in.
    const isRevoked = isFailure(error, 'access_refused');
    if (!isRevoked && !areKeptAfter(failure)) revokeSilently(place.registration, tokens);
    throw failure;
  }
}

/** Throws the failure of an admission as the token endpoint answers it: a refusal with 400. @see RFC 8628 §3.5 */
export function failAtTokenEndpoint(error: unknown): never {
  const isRefusal = isFailure(error, 'access_refused', ...refusalsAtProvider);
  throw isRefusal ? new RelayError(error.code, { ...error, status: 400 }) : error;
}

interface Renewal {
  readonly place: Destination;
  readonly ctx: Context;
  readonly refreshes: Refreshes;
  /** Without a refresh token, the access token only serves to ask whether the person may still log in. */
  readonly tokens: RevocableTokens;
  readonly refresh: Omit<FrontEndRefresh, 'refreshToken'>;
  /** The client address that the call counts for, if it is known. */
  readonly address: string | undefined;
}

/**
 * Renews the tokens of a login at the provider. A person who may not log in any more has to log in again.
 *
 * @returns no tokens if there is nothing to renew; who the person is, if the login is for a resource
 * @throws {RelayError} `access_ended`, `refresh_refused`, `access_unchecked`, or why the refresh failed
 */
export async function renewTokens(renewal: Renewal): Promise<{ tokens?: Refreshed; identity?: Identity | undefined }> {
  const { place, ctx, refreshes, refresh, address } = renewal;
  const { registration } = place;
  const { refreshToken, accessToken = '' } = renewal.tokens;
  refreshes.count(refresh.login);
  const admission = createAdmission(place, ctx);
  let identity: Identity | undefined;
  const check =
    admission &&
    (async (tokens: Tokens) => {
      identity = await admission(tokens);
    });
  try {
    if (refreshToken !== undefined) {
      const call = async (grant: RefreshGrant) => {
        await registration.countRefresh(address);
        return await registration.requestToken(grant, recordCall(ctx));
      };
      const joined = { ...refresh, refreshToken };
      const tokens = await refreshes.join(joined, call, registration.isGood, check);
      return { tokens, identity };
    }
    await check?.({ accessToken });
    return { identity };
  } catch (error) {
    if (isFailure(error, 'access_refused')) throw new RelayError('access_ended', { fields: error.fields });
    if (!isFailure(error, 'token_invalid')) throw error;
    // The provider has just issued a renewed access token, so its answer is no refusal.
    throw new RelayError(refreshToken === undefined ? 'refresh_refused' : 'access_unchecked');
  }
}

/** Revokes the tokens of a login, without making anybody wait for it or for its failure. */
export function revokeSilently(registration: Registration, tokens: RevocableTokens): void {
  for (const token of eachAlone(tokens)) {
    registration.revokeToken(token, () => {}).catch(() => {});
  }
}
