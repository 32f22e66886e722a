import { timingSafeEqual } from 'node:crypto';
import { RelayError } from '../failures/relay-error.ts';
import type { CodeContent } from '../grants/codes.ts';
import type { Exchange, Redemption } from '../grants/redemptions.ts';
import type { Context } from '../http/context.ts';
import { deriveCodeChallenge } from '../login/pkce.ts';
import type { Registration } from '../login/registration.ts';
import { hashKey } from '../memory/expiring-map.ts';
import type { EndpointParameters } from '../oauth/endpoint-parameters.ts';
import { mergeFields } from '../oauth/extra-fields.ts';
import type { TokenResponse } from '../oauth/token-response.ts';
import { findRedirectUri } from '../origins/redirect-uri.ts';
import { admit, expectConsent, failAtTokenEndpoint, revokeSilently } from './admission.ts';
import { type EndpointRequest, requireParameter } from './front-end-endpoint.ts';
import { type Granted, grantFirstToken } from './granted-token.ts';
import { type Grantee, requireGrantee } from './grantee.ts';

/**
 * `grant_type=authorization_code`: exchanges the provider's code, which the relay's code holds. Every check comes
 * before the exchange, because the provider's code works only once. If the front end did not get the tokens of an
 * earlier attempt, `redemptions` has kept the provider's answer, and a repetition gets it without an exchange.
 *
 * @see RFC 6749 §4.1.3, RFC 7636 §4.6
 */
export async function redeemCode(request: EndpointRequest): Promise<Granted> {
  const { ctx, frontEnd, issuer, registration } = request;
  const { proofs, redemptions } = request.grants;
  const { login, left } = openCode(request);
  const grantee = requireGrantee(request, login);
  const key = hashRedemption(registration, login);
  const thumbprint = await proofs.verifyIfSent(ctx.req.headersDistinct['dpop'] ?? [], {
    method: ctx.method,
    url: `${issuer}/token`,
    // A code is fresh and not bound to a key, so a thief gains nothing from a proof that was signed in advance.
    nonces: undefined,
    accept: () => redemptions.count(key),
  });
  const redemption: Redemption = {
    key,
    // The kept answer is bound to the whole login. Otherwise, somebody who got hold of the provider's code could put it
    // into a login of their own, and get the kept answer.
    binding: hashKey(frontEnd.audience, JSON.stringify(login), thumbprint),
    client: frontEnd.audience,
    left,
    revoke: (tokens) => revokeSilently(registration, tokens),
  };
  // A repetition counts as well, because nobody knows yet whether an answer was kept.
  const exchange: Exchange = (takeKept, noteSent) =>
    registration.limitExchange(
      grantee.chargedAddress,
      async () => (await takeKept()) ?? (await exchangeProviderCode(request, login, noteSent)),
    );
  return await redemptions.redeem(redemption, exchange, async (response, keepAnswer) => {
    const granted = await admitAndGrant(request, grantee, login, response, thumbprint).catch(async (error) => {
      if (!isTemporary(error)) throw error;
      await keepAnswer();
      // The front end can repeat the redemption.
      delete ctx.state.codeMayBeSpent;
      throw error;
    });
    keepUnlessAnswered(ctx, keepAnswer);
    return granted;
  });
}

/**
 * Hashes the provider's code into the key by which a redemption is remembered. The relay's own code is not hashed,
 * because it could be redeemed again in a second spelling.
 */
export function hashRedemption(
  { audience }: Pick<Registration, 'audience'>,
  { providerCode }: Pick<CodeContent, 'providerCode'>,
): string {
  return hashKey(audience, providerCode);
}

/**
 * Opens the code in a request, and verifies redirect URI and verifier.
 *
 * @returns the login, and the milliseconds until the code expires
 * @throws {RelayError} `grant_invalid`, `code_expired` or `verifier_wrong`
 */
function openCode({ frontEnd, grants, parameters }: EndpointRequest) {
  const opened = grants.codes.open(requireParameter(parameters, 'code'), frontEnd);
  const { login } = opened;
  // A reload may have removed the redirect URI since the login started.
  const isRegistered = findRedirectUri(login.redirectUri, frontEnd.redirectUris);
  if (!isRegistered || !isSameRedirectUri(parameters, login)) throw new RelayError('grant_invalid');
  if (!fitsChallenge(requireParameter(parameters, 'code_verifier'), login)) throw new RelayError('verifier_wrong');
  return opened;
}

/**
 * Exchanges the provider's code, which the relay's code holds.
 *
 * @param noteSent called as soon as the provider may have got its code
 */
async function exchangeProviderCode(
  { ctx, now, registration }: EndpointRequest,
  { providerCode, codeVerifier }: CodeContent,
  noteSent: () => void,
) {
  registration.expectRoom();
  const response = await registration.requestToken({ code: providerCode, codeVerifier }, (call, isSent) => {
    ctx.state.providerCall = call;
    if (!isSent) return;
    noteSent();
    ctx.state.codeMayBeSpent = true;
  });
  return { response, at: now() };
}

/** Grants the provider's answer to the front end, if the person has consented and may log in. */
async function admitAndGrant(
  request: EndpointRequest,
  grantee: Grantee,
  login: CodeContent,
  response: TokenResponse,
  thumbprint: string | undefined,
): Promise<Granted> {
  const { ctx, frontEnd, registration } = request;
  const { redirectUri, scope, address } = login;
  // A response without a scope grants what was requested. @see RFC 6749 §5.1
  const extraFields = mergeFields(response.extraFields, login.extraFields);
  const token = { ...response, scope: response.scope ?? scope, extraFields };
  frontEnd.reportScope(token.scope, registration.provider.scope);
  frontEnd.reportMissingFields(registration.provider.tokenFields, response.extraFields);
  expectConsent(request, login, token);
  const identity = await admit(grantee, ctx, token, login.nonce, isTemporary).catch(failAtTokenEndpoint);
  // The document of an unregistered client may change or vanish. Then only the refresh token tells from which origin
  // the client may refresh.
  const ofClient = frontEnd.client === undefined ? {} : { redirectUri, address };
  const { ownResource, providerResource, hasConsent } = login;
  const terms = { thumbprint, ownResource, providerResource, hasConsent, ...ofClient };
  return grantFirstToken(request, grantee, token, identity, terms);
}

/** Whether the redemption may succeed if the client repeats it. */
function isTemporary(error: unknown): boolean {
  return error instanceof RelayError && error.oauthError === 'temporarily_unavailable';
}

/** Gives the provider's answer back if the client has gone before it got all, so that it can repeat the redemption. */
function keepUnlessAnswered({ res }: Context, keepAnswer: () => Promise<void>): void {
  const keepIfBroken = () => {
    // Node.js 22 reports a broken response as finished too.
    if (!res.writableFinished || res.errored !== null) void keepAnswer();
  };
  if (res.closed) keepIfBroken();
  else res.once('close', keepIfBroken);
}

/** Whether a request names the redirect URI of its login, or none. @see RFC 6749 §4.1.3 */
function isSameRedirectUri({ redirect_uri: given }: EndpointParameters, login: CodeContent) {
  return given === undefined || URL.parse(given)?.href === login.redirectUri;
}

/** Whether a verifier belongs to the code challenge of a login. @see RFC 7636 §4.1 and §4.6 */
function fitsChallenge(verifier: string, login: CodeContent): boolean {
  if (!/^[A-Za-z0-9._~-]{43,128}$/.test(verifier)) return false;
  const derived = Buffer.from(deriveCodeChallenge(verifier));
  const expected = Buffer.from(login.codeChallenge);
  return derived.length === expected.length && timingSafeEqual(derived, expected);
}
