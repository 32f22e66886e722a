import type { Codes } from '../grants/codes.ts';
import { redirect } from '../http/redirect.ts';
import type { OAuthRequest } from '../login/state.ts';
import type { Delivery } from './delivery.ts';
import { withPart } from './redirect-delivery.ts';

/**
 * The delivery of an OAuth request: redirects to the front end with a code of the relay. This code
 * contains the provider's code, which is exchanged when the front end redeems the relay's code.
 *
 * @param issuer the relay's name in `iss`
 * @param frontEnd the audience of the front end
 * @param state the front end's own `state`
 * @see RFC 6749 §4.1.2, RFC 9207 §2
 */
export function codeDelivery(
  {
    codes,
    issuer,
    frontEnd,
  }: { readonly codes: Codes; readonly issuer: string; readonly frontEnd: string },
  { redirectUri, codeChallenge, resource }: OAuthRequest,
  state: string | undefined,
): Delivery {
  return {
    redirects: true,
    async succeed(ctx, { code: providerCode, codeVerifier }) {
      const content = { redirectUri, codeChallenge, providerCode, codeVerifier, resource };
      const code = codes.issue(content, frontEnd);
      redirect(ctx, withPart(redirectUri, 'query', { code, state, iss: issuer }));
    },
    fail(ctx, failure) {
      const parameters = {
        error: failure.oauthError,
        error_description: failure.detail,
        state,
        iss: issuer,
        request_id: ctx.state.requestId,
      };
      redirect(ctx, withPart(redirectUri, 'query', parameters));
    },
  };
}
