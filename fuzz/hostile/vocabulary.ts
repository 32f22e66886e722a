/** Targets of requests, valid or not. */
export const paths = [
  ...['/auth/provider', '/auth/provider/app', '/auth/provider/shop', '/auth/provider/callback'],
  ...['/auth/provider/callback', '/api/user', '/api/user', '/auth/house/wiki'],
  ...['/auth/house/callback', '/auth/house/token', '/auth/session', '/auth/session/refresh'],
  ...['/auth/logout', '/house-api/repos', '/auth/provider/token', '/auth/provider/revoke'],
  ...['/.well-known/oauth-authorization-server/auth/provider', '/healthz', '/readyz', '/', '*'],
  ...['/auth/provider/', '//auth/provider', '/AUTH/PROVIDER', '/auth/%70rovider'],
  ...['/auth/provider/callback/..', '/auth/provider/token/'],
  '/.well-known/oauth-authorization-server/auth/other',
  ...['/.well-known/oauth-authorization-server', '/metrics', '/__proto__', '/constructor'],
  ...['http://evil.example/auth/provider', 'https://evil.example:99999/auth/provider/callback'],
  ...['http://user:password@evil.example/api/user', 'http://https:evil.example/auth/provider'],
  ...['http://[/api/user', 'http://%zz@/api/user'],
] as const;

/** Names of parameters in queries. */
export const parameters = [
  ...['code', 'code', 'state', 'state', 'error', 'error_description', 'iss', 'access_token'],
  ...['redirect_uri', 'client_id', 'return_to', 'next', '__proto__', 'constructor', ''],
] as const;

/** Names of headers. */
export const headerNames = [
  ...['Authorization', 'Authorization', 'Cookie', 'Cookie', 'Origin', 'Referer', 'Accept'],
  ...['User-Agent', 'Sec-Fetch-Dest', 'Sec-Fetch-Site', 'Sec-Fetch-Mode', 'Sec-Purpose', 'Purpose'],
  ...['X-Forwarded-Host', 'X-Forwarded-Proto', 'X-Forwarded-For', 'Forwarded', 'X-Request-Id'],
  ...['X-HTTP-Method-Override', 'Access-Control-Request-Method', 'Access-Control-Request-Headers'],
  ...['Accept-Encoding', 'If-None-Match', 'Range', 'Expect', 'Connection', 'Content-Type'],
  ...['Content-Encoding', 'DPoP', '__proto__', 'constructor', 'hasOwnProperty', 'toString'],
] as const;
