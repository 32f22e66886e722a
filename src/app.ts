import Router from '@koa/router';
import Koa from 'koa';
import type { Logger } from 'pino';
import type { Config } from './config.ts';
import { RelayError } from './errors.ts';
import { allow } from './http/allow.ts';
import { cors } from './http/cors.ts';
import { errorResponder } from './http/error-responder.ts';
import { requestLog } from './http/request-log.ts';
import { requireHost } from './http/require-host.ts';
import { responseHeaders } from './http/response-headers.ts';
import { authorizationRequestUrl } from './oauth/authorization-request.ts';
import type { ProviderClient } from './oauth/provider-client.ts';
import { currentUser } from './routes/current-user.ts';
import { loginCallback } from './routes/login-callback.ts';
import { startLogin } from './routes/start-login.ts';

/**
 * Builds the relay as a Koa application that listens nowhere yet.
 *
 * @param dependencies.client the calls to the provider; the caller closes it
 */
export function createApp(
  config: Config,
  { logger, client }: { readonly logger: Logger; readonly client: ProviderClient },
): Koa {
  const loginPath = `/auth/${config.pathName}`;
  const { authorizeUrl, userUrl } = config.provider;
  const router = new Router({ sensitive: true, strict: true });
  router.all(
    loginPath,
    allow('GET'),
    startLogin(authorizationRequestUrl({ ...config, authorizeUrl })),
  );
  router.all(`${loginPath}/callback`, allow('GET'), loginCallback(config, client));
  router.all('/api/user', allow('GET', 'HEAD'), currentUser(userUrl, client));

  // Koa would read NODE_ENV itself.
  const app = new Koa({ env: 'production' });
  app.use(requestLog(logger));
  app.use(responseHeaders);
  app.use(errorResponder);
  app.use(requireHost);
  app.use(cors(config.origin));
  app.use(router.routes());
  app.use(() => {
    throw new RelayError('not_found');
  });
  return app;
}
