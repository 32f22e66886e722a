import { timingSafeEqual } from 'node:crypto';
import { isFailure, RelayError } from '../failures/relay-error.ts';
import type { CodeContent } from '../grants/codes.ts';
import { codeChallenge } from '../login/pkce.ts';
import { keyOf } from '../memory/recent.ts';
import type { EndpointParameters } from '../oauth/endpoint-parameters.ts';
import { findRedirectUri } from '../origins/redirect-uri.ts';
import { resourceOfLogin } from '../resources/resource.ts';
import { admit } from './admission.ts';
import {
  countedAddress,
  type EndpointRequest,
  expectConsent,
  expectResource,
  expectScopeShown,
  proofOf,
  required,
} from './front-end-endpoint.ts';
import { firstGrant, type Granted } from './granted-token.ts';

/**
 * `grant_type=authorization_code`: exchanges the provider's code in the relay's code. Every check comes
 * before the exchange, because the provider's code works once.
 *
 * @see RFC 6749 §4.1.3, RFC 7636 §4.6
 */
export async function redeemCode(request: EndpointRequest): Promise<Granted> {
  const { ctx, frontEnd, parameters, registration } = request;
  const { codes, redeemedCodes } = request.grants;
  const login = codes.open(required(parameters, 'code'), frontEnd.audience);
  // A reload may have removed the redirect URI since the login.
  const isRegistered = login && findRedirectUri(login.redirectUri, frontEnd.redirectUris);
  if (!isRegistered || !isSameRedirectUri(parameters, login)) {
    throw new RelayError('grant_invalid');
  }
  if (!isVerifier(required(parameters, 'code_verifier'), login)) {
    throw new RelayError('verifier_wrong');
  }
  expectResource(request, login);
  const resource = resourceOfLogin(frontEnd, login, parameters.resource);
  expectScopeShown(frontEnd, resource, login);
  ctx.state.resource = resource?.name;
  const thumbprint = await proofOf(request, 'code');

  const { providerCode, codeVerifier, redirectUri, scope } = login;
  // Not the relay's code: that could be spelt in another way, and redeemed twice.
  const key = keyOf(registration.audience, providerCode);
  const redeemed = await redeemedCodes.run(key, (spend) =>
    registration.limitExchange(countedAddress(request, login), async () => {
      registration.expectRoom();
      const grant = { code: providerCode, codeVerifier };
      return await registration.requestToken(grant, (call, isSent) => {
        ctx.state.providerCall = call;
        if (!isSent) return;
        spend();
        ctx.state.codeMayBeSpent = true;
      });
    }),
  );
  // Without a scope, the provider has granted what was asked for. @see RFC 6749 §5.1
  const token = { ...redeemed, scope: redeemed.scope ?? scope };
  frontEnd.reportScope(token.scope, registration.provider.scope);
  expectConsent(request, login, token);
  const grantee = { ...request, resource };
  const identity = await admit(grantee, ctx, token).catch((error: unknown) => {
    // The token endpoint answers a refusal with 400. @see RFC 8628 §3.5
    const isRefusal = isFailure(error, 'access_refused');
    throw isRefusal ? new RelayError('access_refused', { status: 400, fields: error.fields }) : error;
  });
  // The document of a client may change: only the refresh token says later from where the client sends requests.
  const ofClient = frontEnd.client === undefined ? {} : { redirectUri, address: login.address };
  const { ownResource, providerResource, hasConsent } = login;
  const terms = { ownResource, providerResource, hasConsent, ...ofClient };
  return firstGrant({ ...grantee, identity }, token, thumbprint, terms);
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
