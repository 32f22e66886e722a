/** The paths that no configuration changes. The others begin with `/auth/<registration>`. */
export const paths = {
  user: '/api/user',
  /** Where a CMS starts logins unless its configuration has an `auth_endpoint`. */
  cmsLogin: '/auth',
  session: '/auth/session',
  sessionRefresh: '/auth/session/refresh',
  logout: '/auth/logout',
  alive: '/healthz',
  ready: '/readyz',
  clientModule: '/client.js',
  clientTypes: '/client.d.ts',
  clientPackage: '/client.tgz',
} as const;

/** The endpoints of sessions, which look like those of a registration. */
export const sessionPaths: ReadonlySet<string | null> = new Set([
  paths.session,
  paths.sessionRefresh,
  paths.logout,
]);
