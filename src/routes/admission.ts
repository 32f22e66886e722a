import type { Evidence } from '../access/access.ts';
import type { Allow } from '../access/allow.ts';
import type { Identity } from '../access/identity.ts';
import { isFailure, RelayError, refusalsAtProvider } from '../failures/relay-error.ts';
import type { Place } from '../front-ends/front-ends.ts';
import type { FrontEndRefresh } from '../grants/refresh-chain.ts';
import type { Refreshes } from '../grants/refresh-once.ts';
import type { Refreshed, RefreshTokenContent } from '../grants/refresh-tokens.ts';
import { type Context, recordCall } from '../http/context.ts';
import { limits } from '../limits.ts';
import type { Registration } from '../login/registration.ts';
import { type RevocableTokens, splitTokens } from '../oauth/revocation.ts';
import { scopeBeyond } from '../oauth/scope.ts';
import type { RefreshGrant } from '../oauth/token-request.ts';
import type { TokenResponse } from '../oauth/token-response.ts';
import { identityAt, type Resource } from '../resources/resource.ts';
import type { ObserveCall } from '../upstream/messages.ts';

/** Where a person logs in: at a front end of a registration, and maybe for a resource. */
interface Destination {
  readonly registration: Registration;
  readonly frontEnd: { readonly name: string; readonly allow: Allow | undefined };
  /** Undefined if the login is for the provider's API. */
  readonly resource?: Resource | undefined;
}

/** The provider's tokens of a login, to revoke them, and as evidence of who the person is. */
type Tokens = RevocableTokens & Evidence;

/**
 * Creates the check whether a person may log in at the registration and the front end, and may use the resource. The
 * check revokes the tokens of a refused person, and returns the person's identity if the login is for a resource. It
 * throws `access_refused`, `access_unchecked` (for a resource, `identity_unchecked`), `identity_unknown`, or
 * `token_invalid` if the provider does not know the access token.
 *
 * @returns undefined if there is nothing to check
 */
function createAdmissionCheck({ registration, frontEnd, resource }: Destination, ctx: Context) {
  const allows = registration.allowsAt(frontEnd, resource);
  const question = resource?.identity;
  const isOpenToAll = allows.every((allow) => allow === undefined);
  if (question === undefined && isOpenToAll) return undefined;
  // In the order of `allowsAt`, so that the log can name the entry whose `allow` refused the person.
  const configKeys = [`providers.${registration.name}`, `front-ends.${frontEnd.name}`, `resources.${resource?.name}`];
  const observe: ObserveCall = (call) => {
    // The log shows only one call of a request: the last that failed, or else the first.
    const hasFailed = call.outcome !== 'answered' || (call.status ?? 0) >= 400;
    if (hasFailed || ctx.state.providerCall === undefined) ctx.state.providerCall = call;
  };
  return async (tokens: Tokens): Promise<Identity | undefined> => {
    // This stays in the log if the provider does not answer.
    if (!isOpenToAll) ctx.state.access = 'unchecked';
    const verdict = await registration
      .judge(tokens, allows, question, observe)
      .catch(resource === undefined ? undefined : failUnchecked);
    const { refusedBy, refusedId, person, fields } = verdict;
    const identity = resource && verdict.identity && identityAt(resource, verdict.identity);
    const refused = refusedId === undefined ? undefined : { sub: refusedId };
    const refusedHere = resource && refused ? identityAt(resource, refused) : refused;
    ctx.state.person = (identity ?? refusedHere)?.sub;
    if (!isOpenToAll) ctx.state.access = refusedBy === undefined ? 'allowed' : 'refused';
    if (refusedBy === undefined) return requireShort(identity);
    ctx.state.refusedBy = configKeys[refusedBy];
    revokeSilently(registration, tokens);
    throw new RelayError('access_refused', { person, fields });
  };
}

/**
 * Refuses an identity that is too long for a token. That happens before the relay issues or rotates a token, so that
 * the login does not end.
 *
 * @throws {RelayError} `identity_too_long`
 */
function requireShort(identity: Identity | undefined): Identity | undefined {
  const size = Buffer.byteLength(JSON.stringify(identity ?? ''));
  if (size > limits.identitySize) throw new RelayError('identity_too_long');
  return identity;
}

/**
 * Turns `access_unchecked` (502) into `identity_unchecked` (503 with `Retry-After`) for a login for a resource. After
 * that, its client tries again without a browser.
 */
function failUnchecked(error: unknown): never {
  throw isFailure(error, 'access_unchecked') ? new RelayError('identity_unchecked') : error;
}

/**
 * Admits a person at a login. If this fails, no front end gets the tokens, so they are revoked.
 *
 * @param nonce the nonce of the login; undefined if no browser proved the login
 * @param areKeptAfter whether the tokens are kept after a failure, because a later attempt may still get them
 * @returns the person's identity if the login is for a resource
 * @throws {RelayError} as the check of `createAdmissionCheck`, but never `token_invalid`
 */
export async function admit(
  destination: Destination,
  ctx: Context,
  tokens: Omit<Tokens, 'login'>,
  nonce: string | undefined,
  areKeptAfter = (_error: unknown): boolean => false,
): Promise<Identity | undefined> {
  try {
    return await createAdmissionCheck(destination, ctx)?.({ ...tokens, login: { nonce } });
  } catch (error) {
    // The provider issued the token a moment ago, so it did not refuse the person.
    const failure = isFailure(error, 'token_invalid') ? new RelayError('access_unchecked') : error;
    // The check itself has revoked the tokens of a refused person.
    const isRevoked = isFailure(error, 'access_refused');
    if (!isRevoked && !areKeptAfter(failure)) revokeSilently(destination.registration, tokens);
    throw failure;
  }
}

/**
 * Requires that the provider has not granted more than the person has agreed to, if the person was asked about the
 * client (`hasConsent`). If it has, the tokens are revoked.
 *
 * @throws {RelayError} `consent_exceeded`
 */
export function expectConsent(
  { registration, grants }: Pick<Place, 'registration' | 'grants'>,
  { hasConsent, scope }: Pick<RefreshTokenContent, 'hasConsent' | 'scope'>,
  token: TokenResponse,
): void {
  // If a login requests no scope, the provider decides what it grants, so nothing is too much. But some providers add
  // the scopes of earlier logins, which this person was not shown.
  const shown = registration.provider.addsEarlierScopes ? (scope ?? '') : scope;
  if (hasConsent === undefined || scopeBeyond(token.scope, shown).length === 0) return;
  // Revoke once, because a client that repeats this must not use up the provider's limits.
  void grants.revocations.revokeOnce(token, async () => revokeSilently(registration, token));
  throw new RelayError('consent_exceeded');
}

/** Turns a failed admission into a failure of the token endpoint, where a refusal is 400. @see RFC 8628 §3.5 */
export function failAtTokenEndpoint(error: unknown): never {
  const isRefusal = isFailure(error, 'access_refused', ...refusalsAtProvider);
  throw isRefusal ? new RelayError(error.code, { ...error, status: 400 }) : error;
}

interface Renewal {
  readonly destination: Destination;
  readonly ctx: Context;
  readonly refreshes: Refreshes;
  /**
   * The present tokens. Without a refresh token, the access token serves to ask whether the person may still log in.
   */
  readonly tokens: RevocableTokens;
  /** The `hashSubject` of the person who logged in, if an ID token said it. */
  readonly subjectId: string | undefined;
  readonly refresh: Omit<FrontEndRefresh, 'refreshToken'>;
  /** The client address to charge for the call, if it is known. */
  readonly address: string | undefined;
}

/**
 * Renews the tokens of a login at the provider, and checks again whether the person may log in.
 *
 * @returns no tokens if the provider gave no refresh token; the person's identity if the login is for a resource
 * @throws {RelayError} `access_ended`, `refresh_refused`, `access_unchecked`, or why the refresh failed
 */
export async function renewTokens(renewal: Renewal): Promise<{ tokens?: Refreshed; identity?: Identity | undefined }> {
  const { destination, ctx, refreshes, subjectId, refresh, address } = renewal;
  const { registration } = destination;
  const { refreshToken, accessToken = '' } = renewal.tokens;
  const admissionCheck = createAdmissionCheck(destination, ctx);
  // The check leaves its result here, because `refreshOnce` returns only the tokens.
  let identity: Identity | undefined;
  const check =
    admissionCheck &&
    (async (tokens: Tokens) => {
      identity = await admissionCheck({ ...tokens, subjectId });
    });
  const callProvider = async (grant: RefreshGrant) => {
    await registration.countRefresh(address);
    return await registration.requestToken(grant, recordCall(ctx));
  };
  try {
    if (refreshToken === undefined) {
      await check?.({ accessToken });
      return { identity };
    }
    const tokens = await refreshes.refreshOnce({ ...refresh, refreshToken }, callProvider, registration.isGood, check);
    return { tokens, identity };
  } catch (error) {
    if (isFailure(error, 'access_refused')) throw new RelayError('access_ended', { fields: error.fields });
    if (!isFailure(error, 'token_invalid')) throw error;
    // A new token cannot be invalid, so the provider did not refuse the person. An old token may have ended.
    throw new RelayError(refreshToken === undefined ? 'refresh_refused' : 'access_unchecked');
  }
}

/** Revokes the tokens of a login without waiting for the result. A failure is ignored. */
export function revokeSilently(registration: Registration, tokens: RevocableTokens): void {
  for (const token of splitTokens(tokens)) {
    registration.revokeToken(token, () => {}).catch(() => {});
  }
}
