/** The two places where metadata may be. @see OpenID Connect Discovery 1.0 §4, RFC 8414 §3 */
export const openIdPath = '/.well-known/openid-configuration';
export const oauthPath = '/.well-known/oauth-authorization-server';

/** Valid metadata with these changes; undefined removes a field. */
export function metadata(
  issuer: string,
  changes: Readonly<Record<string, unknown>> = {},
): Readonly<Record<string, unknown>> {
  return {
    issuer,
    authorization_endpoint: `${issuer}/authorize`,
    token_endpoint: `${issuer}/token`,
    userinfo_endpoint: `${issuer}/userinfo`,
    ...changes,
  };
}
