/**
 * Builds the URL that sends the browser to the provider. A query that the authorization endpoint
 * already has is kept.
 *
 * @see RFC 6749 §4.1.1
 */
export function authorizationRequestUrl(request: {
  readonly authorizeUrl: string;
  readonly clientId: string;
  readonly redirectUri: string;
  readonly scope: string | undefined;
}): string {
  const url = new URL(request.authorizeUrl);
  url.searchParams.set('response_type', 'code');
  url.searchParams.set('client_id', request.clientId);
  url.searchParams.set('redirect_uri', request.redirectUri);
  if (request.scope !== undefined) url.searchParams.set('scope', request.scope);
  return url.href;
}

/** The parameters that protect one login. @see RFC 6749 §10.12, RFC 7636 §4.3 */
export interface ProtectionParameters {
  readonly state: string;
  /** The S256 challenge, where the provider takes PKCE. */
  readonly codeChallenge: string | undefined;
}

/** The authorization request of one protected login. */
export function withProtection(
  authorizationRequestUrl: string,
  { state, codeChallenge }: ProtectionParameters,
): string {
  const url = new URL(authorizationRequestUrl);
  url.searchParams.set('state', state);
  if (codeChallenge !== undefined) {
    url.searchParams.set('code_challenge', codeChallenge);
    url.searchParams.set('code_challenge_method', 'S256');
  }
  return url.href;
}
