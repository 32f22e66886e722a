import { version } from './version.ts';

/** The paths that no configuration changes. All other endpoints are below the path of a registration. */
export const paths = {
  user: '/api/user',
  /** The path at which a CMS starts logins, unless its configuration has an `auth_endpoint`. */
  cmsLogin: '/auth',
  session: '/auth/session',
  sessionRefresh: '/auth/session/refresh',
  logout: '/auth/logout',
  alive: '/healthz',
  ready: '/readyz',
  clientModule: '/client.js',
  clientTypes: '/client.d.ts',
  clientPackage: '/client.tgz',
  clientRelease: `/login-relay-client-${version}.tgz`,
} as const;

/** The relay's own paths. No page, API or resource may contain one, or be below one. */
export const ownPaths: readonly string[] = [
  '/auth',
  ...Object.values(paths).filter((path) => !path.startsWith('/auth')),
  '/.well-known',
];

/** Whether two paths are the same, or one is below the other. A final slash does not count. */
export function doPathsOverlap(first: string, second: string): boolean {
  // The slash keeps `/auth` from overlapping with `/authors`.
  const withSlash = (path: string) => path.replace(/\/?$/, '/');
  return withSlash(first).startsWith(withSlash(second)) || withSlash(second).startsWith(withSlash(first));
}

/** A path at which logins at a registration start. Its other endpoints are below. @param word see `ServedPath` */
export function registrationPath(word: string): string {
  return `/auth/${word}`;
}

/** The path at which logins at a registration end, unless it has a `callback-path`. */
export function defaultCallbackPath(name: string): string {
  return `${registrationPath(name)}/callback`;
}

/** The path at which a reverse proxy asks whether a request to a resource may pass. */
export function pathOfCheck(resource: string): string {
  return `/auth/check/${resource}`;
}

/** The path to which a reverse proxy passes a refused request, if it cannot pass the answer of the check on. */
export function pathOfAnswer(resource: string): string {
  return `/auth/answer/${resource}`;
}

/** The start of the relay's own paths at the host of a resource that opens to browsers. They never reach the resource. */
export const ownPrefix = '/.login-relay/';

/** The relay's addresses at the host of a resource that opens to browsers. */
export const doorPaths = {
  login: `${ownPrefix}login`,
  choose: `${ownPrefix}choose`,
  callback: `${ownPrefix}callback`,
  logout: `${ownPrefix}logout`,
  user: `${ownPrefix}user`,
} as const;

/** The path on the relay's own host where a browser starts the login for a resource. */
export function doorStartPath(registration: string, resource: string): string {
  return `${registrationPath(registration)}/door/${resource}`;
}

/** The name of the resource in a path of the form of `doorStartPath`; undefined if a path has another form. */
export function resourceInDoorStart(path: string): string | undefined {
  return /^\/auth\/[^/]+\/door\/(?<resource>[^/]+)$/.exec(path)?.groups?.['resource'];
}

/** The name of the registration in a path, and the name below it, if exactly one follows. */
export function namesInPath(path: string): Partial<Record<'registration' | 'below', string>> {
  return /^\/auth\/(?<registration>[^/]+)(?:\/(?<below>[^/]+)$)?/.exec(path)?.groups ?? {};
}

/** The names of endpoints below `/auth/` and `/auth/<registration>/`. No registration and no front end can have one. */
export const endpointNames: Readonly<
  Record<'always' | 'withSessions' | 'withResources' | 'withBrowsers' | 'withOpenClients', readonly string[]>
> = {
  always: ['callback', 'token', 'revoke'],
  withSessions: ['session', 'logout'],
  withResources: ['check', 'introspect'],
  withBrowsers: ['answer'],
  withOpenClients: ['register', 'consent'],
};
