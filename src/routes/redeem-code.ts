import { timingSafeEqual } from 'node:crypto';
import { RelayError } from '../failures/relay-error.ts';
import type { CodeContent } from '../grants/codes.ts';
import type { Redemption } from '../grants/redemptions.ts';
import type { Context } from '../http/context.ts';
import { deriveCodeChallenge } from '../login/pkce.ts';
import { hashKey } from '../memory/recent.ts';
import type { EndpointParameters } from '../oauth/endpoint-parameters.ts';
import { mergeFields } from '../oauth/extra-fields.ts';
import type { TokenResponse } from '../oauth/token-response.ts';
import { findRedirectUri } from '../origins/redirect-uri.ts';
import { admit, failAtTokenEndpoint, revokeSilently } from './admission.ts';
import { type EndpointRequest, requireParameter, verifyProof } from './front-end-endpoint.ts';
import { type Granted, grantFirstToken } from './granted-token.ts';
import { expectConsent, type Grantee, requireGrantee } from './grantee.ts';

/**
 * `grant_type=authorization_code`: exchanges the provider's code, which the relay's code holds. Every check comes
 * before the exchange, because the provider's code works only once.
 *
 * @see RFC 6749 §4.1.3, RFC 7636 §4.6
 */
export async function redeemCode(request: EndpointRequest): Promise<Granted> {
  const { ctx, frontEnd, now, parameters, registration } = request;
  const { codes, redemptions } = request.grants;
  const { login, left } = codes.open(requireParameter(parameters, 'code'), frontEnd);
  // A reload may have removed the redirect URI since the login started.
  const isRegistered = findRedirectUri(login.redirectUri, frontEnd.redirectUris);
  if (!isRegistered || !isSameRedirectUri(parameters, login)) throw new RelayError('grant_invalid');
  if (!isVerifier(requireParameter(parameters, 'code_verifier'), login)) {
    throw new RelayError('verifier_wrong');
  }
  const grantee = requireGrantee(request, login);
  const { providerCode, codeVerifier } = login;
  // Not the relay's own code: if that had a second spelling, it could be redeemed twice.
  const key = hashKey(registration.audience, providerCode);
  const thumbprint = await verifyProof(request, 'code', () => redemptions.count(key));
  const redemption: Redemption = {
    key,
    // Bound to the whole login: otherwise, somebody who got hold of the provider's code could put it into a login of
    // their own, and get the kept answer.
    binding: hashKey(frontEnd.audience, JSON.stringify(login), thumbprint),
    client: frontEnd.audience,
    left,
    revoke: (tokens) => revokeSilently(registration, tokens),
  };
  return await redemptions.redeem(
    redemption,
    (find, spend) =>
      registration.limitExchange(grantee.chargedAddress, async () => {
        const kept = await find();
        if (kept !== undefined) return kept;
        registration.expectRoom();
        const grant = { code: providerCode, codeVerifier };
        const response = await registration.requestToken(grant, (call, isSent) => {
          ctx.state.providerCall = call;
          if (!isSent) return;
          spend();
          ctx.state.codeMayBeSpent = true;
        });
        return { response, at: now() };
      }),
    async (response, giveBack) => {
      const granted = await grantTo(request, grantee, login, response, thumbprint).catch(async (error) => {
        if (!isPassing(error)) throw error;
        await giveBack();
        delete ctx.state.codeMayBeSpent;
        throw error;
      });
      giveBackUnlessAnswered(ctx, giveBack);
      return granted;
    },
  );
}

/** Grants the provider's answer to the front end, if the person has consented and may log in. */
async function grantTo(
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
  const identity = await admit(grantee, ctx, token, login.nonce, isPassing).catch(failAtTokenEndpoint);
  // The document of a client may change or vanish. Afterwards, only the refresh token tells from where the client may
  // ask.
  const ofClient = frontEnd.client === undefined ? {} : { redirectUri, address };
  const { ownResource, providerResource, hasConsent } = login;
  const terms = { thumbprint, ownResource, providerResource, hasConsent, ...ofClient };
  return grantFirstToken(request, grantee, token, identity, terms);
}

function isPassing(error: unknown): boolean {
  return error instanceof RelayError && error.oauthError === 'temporarily_unavailable';
}

/** Gives an answer back if the client is gone before it got all of it, so that the same redemption can be repeated. */
function giveBackUnlessAnswered({ res }: Context, giveBack: () => Promise<void>): void {
  const check = () => {
    // Node.js 22 also reports a broken response as finished.
    if (!res.writableFinished || res.errored !== null) void giveBack();
  };
  if (res.closed) check();
  else res.once('close', check);
}

/** @see RFC 6749 §4.1.3 */
function isSameRedirectUri({ redirect_uri: given }: EndpointParameters, login: CodeContent) {
  return given === undefined || URL.parse(given)?.href === login.redirectUri;
}

/** @see RFC 7636 §4.1 and §4.6 */
function isVerifier(verifier: string, login: CodeContent): boolean {
  if (!/^[A-Za-z0-9._~-]{43,128}$/.test(verifier)) return false;
  const proved = Buffer.from(deriveCodeChallenge(verifier));
  const asked = Buffer.from(login.codeChallenge);
  return proved.length === asked.length && timingSafeEqual(proved, asked);
}
