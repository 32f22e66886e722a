import { randomBytes } from 'node:crypto';
import type { RequestListener } from 'node:http';
import { createDocuments } from '../clients/fetch-documents.ts';
import type { Config, FrontEndConfig, RegistrationConfig } from '../config/config.ts';
import type { Delivery } from '../delivery/delivery.ts';
import { createFailureAnswer } from '../delivery/failure-page.ts';
import { html, pagePolicy, renderHtmlPage } from '../delivery/html.ts';
import { createPages, setPageHeaders } from '../delivery/pages.ts';
import { RelayError } from '../failures/relay-error.ts';
import type { FrontEnd } from '../front-ends/front-end.ts';
import { createFrontEnds } from '../front-ends/front-ends.ts';
import { type Context, truncatedQuery } from '../http/context.ts';
import { type AnswerFailure, answerFailures } from '../http/error-responder.ts';
import { refusePrefetch, removeBasePath } from '../http/request-guards.ts';
import type { Registration } from '../login/registration.ts';
import { paths } from '../paths.ts';
import type { Provider } from '../providers/provider.ts';
import { alive, createReadiness, ready } from '../routes/health.ts';
import { loginCallback } from '../routes/login-callback.ts';
import { redirectToProvider } from '../routes/redirect-to-provider.ts';
import { Secret } from '../sealing/secret.ts';
import type { UpstreamClient } from '../upstream/client.ts';
import { addEndpoints, createKoa } from './app.ts';
import { createHandler, type Endpoint } from './endpoint.ts';
import { createMemory } from './memory.ts';
import { noPages } from './readers.ts';
import { type ServingContext, serveRegistration } from './registrations.ts';

/** The grant of the provider, with the names of all parameters of the callback. */
export interface OneGrant extends Readonly<Parameters<(Delivery & { takes: 'code' })['succeed']>[1]> {
  readonly parameters: readonly string[];
}

/** A relay for a single login, which does not redeem the provider's code but hands it over. */
export type OneLogin = Awaited<ReturnType<typeof createOneLogin>>;

interface LoginSetup {
  readonly config: Config;
  /** The registration with only one path. */
  readonly registration: RegistrationConfig;
  readonly frontEnd: FrontEndConfig;
  readonly provider: Provider;
  readonly upstream: UpstreamClient;
}

/**
 * Creates a relay for one login, with the usual start, callback and protection. Its only other endpoints are the
 * probes, because balancers recognize a relay by them.
 *
 * @param onStrayCallback called with the failure of each callback that does not belong to this login, but to one of an
 *   earlier relay or of a stranger
 */
export async function createOneLogin(setup: LoginSetup, onStrayCallback: (failure: RelayError) => void) {
  const { config, registration, provider, upstream } = setup;
  // Nobody can guess the name, so only a person who reads the address on the operator's terminal can start the login.
  // No other relay has a front end of this name, even with the same keys, so neither relay can end logins of the other.
  const name = `check-${randomBytes(16).toString('hex')}`;
  const frontEndConfig = { ...setup.frontEnd, name };
  // With new keys, it need not read the keys of the relay, and can open nothing that the relay has sealed.
  const keySecrets = config.keySecrets && ([new Secret(randomBytes(32).toString('base64url'))] as const);
  const context: ServingContext = {
    config: { ...config, keySecrets, frontEnds: [frontEndConfig] },
    logger: { info() {}, warn() {} },
    now: Date.now,
    memory: createMemory(Date.now),
    sessions: undefined,
    documents: createDocuments(false, Date.now),
    pages: createPages(config.pages),
  };
  const serve = (known: Provider) =>
    serveRegistration({ ...registration, stateCheck: 'always', provider: { known } }, context, upstream);
  // With `id-token`, the nonce is kept, even if the relay does not read ID tokens of this provider.
  const served = await serve({ ...provider, userFrom: 'id-token' });
  const { promise: ended, resolve: end } = Promise.withResolvers<OneGrant | RelayError>();
  const startUrl = `${served.issuer}/${name}`;
  const { origin, frontendUrl } = frontEndConfig;
  const { pages } = context;
  const answerInPlace = createFailureAnswer({
    origin,
    frontendUrl,
    loginUrl: startUrl,
    peekLogin: served.peekLogin,
    pages,
  });
  const delivery = createSingleDelivery(answerInPlace, end);
  // Without OAuth logins, so that this plain start requests a refresh token, as the front end's OAuth logins do. At a
  // front end that has OAuth logins, `redirectToProvider` requests none for a plain login.
  const frontEnd: FrontEnd = { ...served.frontEnds.first, takesOAuth: false, deliveryOf: () => delivery };
  const { scope = provider.scope } = frontEnd;
  const answerStrayCallbacks = answerFailures((ctx, failure) => {
    answerInPlace(ctx, failure);
    onStrayCallback(failure);
  });
  const { pathname: startPath } = new URL(startUrl);
  const { pathname: basePath } = new URL(config.baseUrl);
  const readiness = createReadiness([]);
  const common = { methods: ['GET'], readers: noPages, isLimited: false };
  const endpoints: Endpoint[] = [
    { ...common, path: paths.alive, action: 'probe', handle: alive },
    { ...common, path: paths.ready, action: 'probe', handle: ready(readiness) },
    {
      ...common,
      path: startPath.slice(basePath.replace(/\/$/, '').length),
      action: 'start',
      failures: answerFailures(answerInPlace),
      guards: [refusePrefetch],
      handle: (ctx) => redirectToProvider(ctx, { ...served, frontEnd }, { scope }),
    },
    {
      ...common,
      path: served.callbackPath,
      action: 'callback',
      failures: answerStrayCallbacks,
      guards: [refusePrefetch],
      handle: loginCallback({ ...served, frontEnds: createFrontEnds([frontEnd]) }),
    },
  ];
  return {
    startUrl,
    /** Resolves to the provider's grant, or to the failure of the login. */
    ended,
    frontEnd,
    listener: createListener(config, endpoints, answerInPlace),
    /** The registration with its configured provider, or with a variant of it. */
    registrationAt: async (known = provider): Promise<Registration> => (await serve(known)).registration.current(),
    close(): void {
      served.close();
      context.documents.close();
    },
  };
}

/** Creates a delivery that answers in place, and hands over the result of the first login alone. */
function createSingleDelivery(answerInPlace: AnswerFailure, end: (result: OneGrant | RelayError) => void): Delivery {
  let isOver = false;
  return {
    takes: 'code',
    succeed(ctx, granted) {
      if (isOver) throw new RelayError('state_finished');
      isOver = true;
      showArrival(ctx);
      end({ ...granted, parameters: Object.keys(truncatedQuery(ctx)) });
    },
    fail(ctx, failure) {
      answerInPlace(ctx, failure);
      if (!isOver) end(failure);
      isOver = true;
    },
  };
}

/** Creates the application, which has no other addresses than the given endpoints. */
function createListener(
  { baseUrl }: Config,
  endpoints: readonly Endpoint[],
  answerInPlace: AnswerFailure,
): RequestListener {
  const context = { createOriginWarning: () => callNext, rateLimits: [] };
  const app = createKoa({ stopping: false }, answerInPlace);
  const { pathname } = new URL(baseUrl);
  const exists = (path: string) => endpoints.some((endpoint) => endpoint.path === path);
  if (pathname !== '/') app.use(removeBasePath(pathname, exists));
  addEndpoints(app, endpoints, context);
  const anyOtherPath = { path: '', action: undefined, readers: noPages, isLimited: false } as const;
  app.use(createHandler({ ...anyOtherPath, handle: failNotFound }, context));
  return app.callback();
}

const callNext: Endpoint['handle'] = (_, next) => next();

function failNotFound(): never {
  throw new RelayError('not_found');
}

/** Shows the last page in the browser. Only the terminal says who logged in. */
function showArrival(ctx: Context): void {
  const title = 'The login has arrived';
  ctx.body = renderHtmlPage(
    title,
    html`<h1>${title}</h1>
<p>The terminal where <code>login-relay check</code> runs shows what the provider answers. You can close this page.</p>`,
  );
  setPageHeaders(ctx, pagePolicy());
}
