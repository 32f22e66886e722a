import * as v from 'valibot';
import { mayReachApi } from '../api-proxy/headers.ts';
import { paths } from '../paths.ts';
import { providerUrl } from '../urls.ts';
import * as schemas from './schemas.ts';

const longestPath = 128;

/** The endpoints of the relay, and what lies below them. */
const endpoints = [
  '/auth',
  paths.user,
  paths.alive,
  paths.ready,
  paths.clientModule,
  paths.clientTypes,
  '/.well-known',
];

/** A path of the relay below which nothing else is, such as `/api/github/`. */
export const apiPath = v.pipe(
  v.string(),
  v.maxLength(longestPath, `must have at most ${longestPath} characters`),
  v.regex(
    /^(\/(?!\.{1,2}\/)[A-Za-z0-9._~-]+)+\/$/,
    'must be a path that begins and ends with a slash, such as /api/github/, of letters, digits, hyphens, underscores, dots and tildes',
  ),
  v.check(
    (text) => !endpoints.some((endpoint) => overlap(`${endpoint}/`, text)),
    `must not contain an endpoint of the relay, or be below one: ${endpoints.join(', ')}`,
  ),
);

/** Whether two paths are the same, or one is below the other. Both end with a slash. */
export function overlap(one: string, other: string): boolean {
  return one.startsWith(other) || other.startsWith(one);
}

/** The URL that takes its place. */
export const apiUrl = v.pipe(
  providerUrl,
  v.check(({ href }) => !href.includes('?'), 'must not have a query'),
  v.check(
    ({ pathname }) => pathname.endsWith('/'),
    'must end with a slash: add one. The rest of the path of a request comes after it',
  ),
);

const methodNames = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE'] as const;
const oneMethod = `(${methodNames.join('|')})`;

/** Methods with spaces between them. */
export const apiMethods = v.pipe(
  v.string(),
  v.regex(
    new RegExp(`^${oneMethod}( ${oneMethod})*$`),
    `must be one of: ${methodNames.join(', ')}`,
  ),
  v.transform((text) => text.split(' ')),
  v.array(schemas.oneOf(methodNames)),
);

/** Names of request headers with spaces between them; the result is in lower case. */
export const apiRequestHeaders = v.pipe(
  v.string(),
  v.regex(
    /^[A-Za-z0-9-]+( [A-Za-z0-9-]+)*$/,
    'must be names of headers: letters, digits and hyphens',
  ),
  v.transform((text) => text.toLowerCase().split(' ')),
  v.check(
    (names) => names.every(mayReachApi),
    'must not name a header of connections, browsers, proxies or credentials, or one that stands for another method or path',
  ),
);
