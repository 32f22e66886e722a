import Router from '@koa/router';
import Koa, { type Middleware } from 'koa';
import type { Config } from '../config/config.ts';
import { failurePage } from '../delivery/failure-page.ts';
import { RelayError } from '../errors.ts';
import { allow } from '../http/allow.ts';
import type { RequestState } from '../http/context.ts';
import { cors } from '../http/cors.ts';
import { answerJson, errorResponder } from '../http/error-responder.ts';
import { reportForeignOrigin } from '../http/foreign-origin.ts';
import { ignoreBody } from '../http/ignore-body.ts';
import { originForm } from '../http/origin-form.ts';
import { reportOtherHost } from '../http/other-host.ts';
import type { Readiness } from '../http/readiness.ts';
import { refuseFrames } from '../http/refuse-frames.ts';
import { refusePrefetch } from '../http/refuse-prefetch.ts';
import { requireHost } from '../http/require-host.ts';
import { responseHeaders } from '../http/response-headers.ts';
import type { Exchanges } from '../login/exchanges.ts';
import type { StateKeys } from '../login/keys.ts';
import { createLoginProtection } from '../login/protection.ts';
import { type RequestRecord, recordRequests } from '../observability/request-record.ts';
import { currentUser } from '../routes/current-user.ts';
import { alive, ready } from '../routes/health.ts';
import { loginCallback } from '../routes/login-callback.ts';
import { startLogin } from '../routes/start-login.ts';
import type { ProviderClient } from '../upstream/client.ts';
import type { ProviderSource } from '../upstream/provider-source.ts';

/** What the application works with, made, and closed, by who starts it. */
export interface Dependencies {
  /** Told of every request once it is over. */
  readonly observers: readonly ((record: RequestRecord) => void)[];
  /** Told of each request from another origin than the front end's. */
  readonly onForeignOrigin: (origin: string) => void;
  /** Called with the host of a login that starts under another host name than the base URL's. */
  readonly onOtherHost: (host: string) => void;
  readonly readiness: Readiness;
  readonly source: ProviderSource;
  /** The calls to the provider. */
  readonly client: ProviderClient;
  readonly stateKeys: StateKeys;
  readonly exchanges: Exchanges;
  /** What refuses clients that ask too often, if anything does. */
  readonly rateLimit: Middleware | undefined;
  /** Milliseconds since 1970. */
  readonly now: () => number;
}

/** Builds the relay as a Koa application that listens nowhere yet. */
export function createApp(
  config: Config,
  {
    observers,
    onForeignOrigin,
    onOtherHost,
    readiness,
    source,
    client,
    stateKeys,
    exchanges,
    rateLimit,
    now,
  }: Dependencies,
): Koa<RequestState> {
  const { stateCheck } = config;
  const protection =
    stateCheck === 'off'
      ? undefined
      : createLoginProtection({ ...config, stateCheck }, stateKeys, now);

  const loginPath = `/auth/${config.pathName}`;
  const answerFailure =
    config.errorDelivery === 'page'
      ? failurePage({ ...config, loginRoute: loginPath, loginUrl: config.baseUrl + loginPath })
      : answerJson;
  const router = new Router<RequestState>({ sensitive: true, strict: true });
  router.all(
    loginPath,
    allow('GET'),
    refusePrefetch,
    ...(protection === undefined ? [] : [reportOtherHost(config.baseUrl, onOtherHost)]),
    startLogin(config, source, protection),
  );
  const limited = rateLimit === undefined ? [] : [rateLimit];
  router.all(
    `${loginPath}/callback`,
    allow('GET'),
    ...limited,
    refusePrefetch,
    refuseFrames,
    loginCallback(config, source, client, protection, exchanges),
  );
  router.all('/api/user', allow('GET', 'HEAD'), ...limited, currentUser(source, client));
  router.all('/healthz', allow('GET', 'HEAD'), alive);
  router.all('/readyz', allow('GET', 'HEAD'), ready(readiness));

  // Koa would read NODE_ENV itself.
  const app = new Koa<RequestState>({ env: 'production' });
  // Koa would write a connection that breaks to standard error: its line in the log says enough.
  app.silent = true;
  app.use(recordRequests(observers));
  app.use(ignoreBody);
  app.use(responseHeaders(readiness));
  app.use(errorResponder(answerFailure));
  app.use(requireHost);
  app.use(originForm);
  app.use(reportForeignOrigin(config.origin, onForeignOrigin));
  app.use(cors(config.origin));
  app.use(router.routes());
  app.use(() => {
    throw new RelayError('not_found');
  });
  return app;
}
