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
