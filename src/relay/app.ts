import type { IncomingMessage } from 'node:http';
import Router from '@koa/router';
import Koa, { type Middleware } from 'koa';
import { RelayError } from '../errors.ts';
import type { Grants } from '../grants/grants.ts';
import { allow } from '../http/allow.ts';
import type { RequestState } from '../http/context.ts';
import { cors } from '../http/cors.ts';
import { type AnswerFailure, errorResponder } from '../http/error-responder.ts';
import { reportForeignOrigin } from '../http/foreign-origin.ts';
import { ignoreBody } from '../http/ignore-body.ts';
import { originForm } from '../http/origin-form.ts';
import { reportOtherHost } from '../http/other-host.ts';
import type { Readiness } from '../http/readiness.ts';
import { refuseFrames } from '../http/refuse-frames.ts';
import { refusePrefetch } from '../http/refuse-prefetch.ts';
import { requireHost } from '../http/require-host.ts';
import { responseHeaders } from '../http/response-headers.ts';
import type { FrontEnd, Registration } from '../login/login.ts';
import { type RequestRecord, recordRequests } from '../observability/request-record.ts';
import { matchesAny } from '../origins/origin-pattern.ts';
import { currentUser } from '../routes/current-user.ts';
import { deliverCallbackFailures, deliverFailures } from '../routes/deliver-failures.ts';
import { alive, ready } from '../routes/health.ts';
import { loginCallback } from '../routes/login-callback.ts';
import { startLogin } from '../routes/start-login.ts';
import { addOAuthEndpoints } from './oauth-endpoints.ts';

/** What the application needs. Its owner creates and closes it. */
export interface Dependencies {
  readonly registration: Registration;
  readonly frontEnd: FrontEnd;
  readonly grants: Grants;
  /** Milliseconds since 1970. */
  readonly now: () => number;
  /** The relay's public address. */
  readonly baseUrl: string;
  /** How a failure is answered if no front end is known. */
  readonly answerFailure: AnswerFailure;
  /** How an OAuth request is answered whose front end or redirect URI is unknown. */
  readonly answerInPlace: AnswerFailure;
  /** Called with every request once it is over. */
  readonly observers: readonly ((record: RequestRecord) => void)[];
  /** Gives the client's address if the log shows it. */
  readonly clientAddress: (request: IncomingMessage) => string | undefined;
  /** Called with the origin of each request that is not the front end's. */
  readonly onForeignOrigin: (origin: string) => void;
  /** Called with the host of a login that starts under another host name than the base URL's. */
  readonly onOtherHost: (host: string) => void;
  readonly readiness: Readiness;
  /** Undefined: clients may send any number of requests. */
  readonly rateLimit: Middleware | undefined;
}

/** Creates the relay as a Koa application: its middleware and routes, in order. */
export function createApp(dependencies: Dependencies): Koa<RequestState> {
  const {
    registration,
    frontEnd,
    answerFailure,
    answerInPlace,
    observers,
    clientAddress,
    onForeignOrigin,
    onOtherHost,
    baseUrl,
    readiness,
    rateLimit,
  } = dependencies;
  const isFrontEnd = matchesAny([frontEnd.origin]);
  const loginPath = `/auth/${registration.name}`;
  const limited = rateLimit === undefined ? [] : [rateLimit];
  const router = new Router<RequestState>({ sensitive: true, strict: true });
  router.all(
    loginPath,
    allow('GET'),
    refusePrefetch,
    deliverFailures(frontEnd),
    ...(registration.protection === undefined ? [] : [reportOtherHost(baseUrl, onOtherHost)]),
    startLogin(registration, frontEnd, answerInPlace),
  );
  router.all(
    `${loginPath}/callback`,
    allow('GET'),
    // Don't deliver it: browsers keep a prefetched redirect, and would show its error instead of the login.
    refusePrefetch,
    deliverCallbackFailures(frontEnd),
    ...limited,
    refuseFrames,
    loginCallback(registration, frontEnd),
  );
  // Without a state check, a code could be redeemed in another browser than the login's.
  if (registration.protection !== undefined) addOAuthEndpoints(router, dependencies, limited);
  router.all('/api/user', allow('GET', 'HEAD'), ...limited, currentUser(registration));
  router.all('/healthz', allow('GET', 'HEAD'), alive);
  router.all('/readyz', allow('GET', 'HEAD'), ready(readiness));

  // Otherwise Koa reads NODE_ENV.
  const app = new Koa<RequestState>({ env: 'production' });
  // Otherwise Koa writes broken connections to standard error. The log has a line for each.
  app.silent = true;
  app.use(recordRequests(observers, clientAddress));
  app.use(ignoreBody);
  app.use(responseHeaders(readiness));
  app.use(errorResponder(answerFailure));
  app.use(requireHost);
  app.use(originForm);
  app.use(reportForeignOrigin(isFrontEnd, onForeignOrigin));
  app.use(cors(isFrontEnd));
  app.use(router.routes());
  app.use(() => {
    throw new RelayError('not_found');
  });
  return app;
}
