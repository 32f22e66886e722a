import { timingSafeEqual } from 'node:crypto';
import type { Clock } from '../clock.ts';
import { RelayError } from '../errors.ts';
import type { CodeContent } from '../grants/codes.ts';
import type { Grants } from '../grants/grants.ts';
import { codeChallenge } from '../login/pkce.ts';
import type { Registration } from '../login/registration.ts';
import type { EndpointParameters } from '../oauth/endpoint-parameters.ts';
import { findRedirectUri } from '../origins/redirect-uri.ts';
import { keyOf } from '../recent.ts';
import { admit } from './admission.ts';
import { expectResource, required } from './front-end-endpoint.ts';
import { firstGrant, proofOf, type ServeGrant } from './token.ts';

/**
 * `grant_type=authorization_code`: exchanges the provider's code in the relay's code. Every check comes
 * before the exchange, because the provider's code works once.
 *
 * @param tokenUrl the endpoint's public address
 * @see RFC 6749 §4.1.3, RFC 7636 §4.6
 */
export function redeemCode(
  registered: Registration,
  grants: Grants,
  tokenUrl: string,
  now: Clock,
): ServeGrant {
  const { codes, redeemedCodes } = grants;
  return async (ctx, frontEnd, parameters) => {
    const registration = registered.pinned();
    const owner = { registration: registration.audience(), frontEnd: frontEnd.audience };
    const login = codes.open(required(parameters, 'code'), frontEnd.audience);
    if (login === undefined || !isSameRedirectUri(parameters, login)) throw invalid();
    // A reload may have removed it since the login.
    if (!findRedirectUri(login.redirectUri, frontEnd.redirectUris)) throw invalid();
    if (!isVerifier(required(parameters, 'code_verifier'), login)) {
      throw new RelayError('verifier_wrong');
    }
    if (frontEnd.isNative) expectResource(parameters, login);
    const thumbprint = await proofOf(ctx, grants, tokenUrl);

    const { providerCode: code, codeVerifier, redirectUri, resource } = login;
    // Of a document, nothing else says later from where its client sends requests.
    const kept = { resource, ...(frontEnd.client !== undefined && { redirectUri }) };
    const grant = firstGrant(grants, registration, frontEnd, now, kept);
    // Not the relay's code: it may have another spelling.
    const token = await redeemedCodes.run(keyOf(owner.registration, code), (sent) =>
      registration.limitExchange(ctx.req, async () => {
        registration.expectRoom();
        return await registration.exchangeCode({ code, codeVerifier }, (call, isSent) => {
          ctx.state.providerCall = call;
          if (!isSent) return;
          sent();
          ctx.state.codeMayBeSpent = true;
        });
      }),
    );
    frontEnd.reportScope(token.scope, registration.provider().scope);
    await admit({ registration, frontEnd }, ctx, token).catch(asTokenError);
    return grant(token, thumbprint);
  };
}

/** @see RFC 6749 §4.1.3 */
function isSameRedirectUri({ redirect_uri: given }: EndpointParameters, login: CodeContent) {
  return given === undefined || URL.parse(given)?.href === login.redirectUri;
}

/** @see RFC 7636 §4.1 and §4.6 */
function isVerifier(verifier: string, login: CodeContent): boolean {
  if (!/^[A-Za-z0-9._~-]{43,128}$/.test(verifier)) return false;
  const proved = Buffer.from(codeChallenge(verifier));
  const asked = Buffer.from(login.codeChallenge);
  return proved.length === asked.length && timingSafeEqual(proved, asked);
}

/** The token endpoint answers a refusal with 400. @see RFC 8628 §3.5 */
function asTokenError(error: unknown): never {
  const isRefused = error instanceof RelayError && error.code === 'access_refused';
  throw isRefused ? new RelayError('access_refused', { status: 400 }) : error;
}

function invalid(): RelayError {
  return new RelayError('grant_invalid');
}
