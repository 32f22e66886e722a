import * as v from 'valibot';
import { mayReachApi } from '../../api-proxy/passed-headers.ts';
import { doPathsOverlap, ownPaths } from '../../paths.ts';
import { providerUrl } from '../../urls.ts';
import { oneOf, pathSegment, textMatching, withoutQuery } from '../schemas.ts';
import { createFileRowMaker } from './setting.ts';

const longestPath = 128;

/** A path of the relay that ends with a slash, and below which nothing else is, such as `/api/github/`. */
const path = v.pipe(
  textMatching(
    /^(\/(?!\.{1,2}\/)[A-Za-z0-9._~-]+)+\/$/,
    'must be a path that begins and ends with a slash, such as /api/github/, of letters, digits, hyphens, underscores, dots and tildes',
  ),
  v.maxLength(longestPath, `must have at most ${longestPath} characters`),
  v.check(
    (given) => !ownPaths.some((own) => doPathsOverlap(own, given)),
    `must not contain an endpoint of the relay, or be below one: ${ownPaths.join(', ')}`,
  ),
);

const url = v.pipe(
  withoutQuery(providerUrl),
  v.check(
    ({ pathname }) => pathname.endsWith('/'),
    "must end with a slash: add one. The rest of the request's path is appended to it",
  ),
);

const methodNames = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE'] as const;
const oneMethod = `(${methodNames.join('|')})`;

const methods = v.pipe(
  textMatching(new RegExp(`^${oneMethod}( ${oneMethod})*$`), `must be one of: ${methodNames.join(', ')}`),
  v.transform((names) => names.split(' ')),
  v.array(oneOf(methodNames)),
);

/** Names of request headers with spaces between them. The result is in lower case. */
const requestHeaders = v.pipe(
  textMatching(/^[A-Za-z0-9-]+( [A-Za-z0-9-]+)*$/, 'must be names of headers: letters, digits and hyphens'),
  v.transform((names) => names.toLowerCase().split(' ')),
  v.check(
    (names) => names.every(mayReachApi),
    ({ input }) =>
      `must not name a header of connections, browsers, proxies or credentials, or one that stands for another method or path: ${input.filter((name) => !mayReachApi(name)).join(', ')}`,
  ),
);

const api = createFileRowMaker({ unquoted: true });

/** An entry of `proxy`: a part of a provider's API for a page with sessions. */
export const apiRows = {
  path: api('path', path, {
    help: "path at the relay; requests below it go to the provider with the session's access token",
    otherwise: 'required',
  }),
  url: api('url', url, {
    isAddress: true,
    help: 'URL that replaces the path; must end with a slash',
    otherwise: 'required',
  }),
  methods: api('methods', methods, {
    help: 'methods to pass on: GET, HEAD, POST, PUT, PATCH, DELETE',
    otherwise: 'GET and HEAD',
    repeatable: true,
  }),
  requestHeaders: api('request-headers', requestHeaders, {
    help: 'further request headers to pass on, such as X-Goog-Api-Key',
    otherwise: 'the headers that APIs usually need',
    repeatable: true,
  }),
  provider: api('provider', pathSegment, {
    help: 'provider whose access tokens go to the URL',
    otherwise: 'required if the front end may use several providers',
  }),
};
