import { randomBytes } from 'node:crypto';
import type { RequestListener } from 'node:http';
import { createDocuments } from '../clients/fetch-documents.ts';
import type { Config, FrontEndConfig, RegistrationConfig } from '../config/config.ts';
import type { Delivery } from '../delivery/delivery.ts';
import { failurePage } from '../delivery/failure-page.ts';
import { html, htmlPage, pagePolicy } from '../delivery/html.ts';
import { createPages, setPageHeaders } from '../delivery/pages.ts';
import { RelayError } from '../failures/relay-error.ts';
import type { FrontEnd } from '../front-ends/front-end.ts';
import { createFrontEnds } from '../front-ends/front-ends.ts';
import { type Context, claimedQuery } from '../http/context.ts';
import { answerFailures } from '../http/error-responder.ts';
import { refusePrefetch, withoutBasePath } from '../http/request-guards.ts';
import type { Registration } from '../login/registration.ts';
import { paths } from '../paths.ts';
import type { Provider } from '../providers/provider.ts';
import { alive, createReadiness, ready } from '../routes/health.ts';
import { loginCallback } from '../routes/login-callback.ts';
import { redirectToProvider } from '../routes/redirect-to-provider.ts';
import { Secret } from '../sealing/secret.ts';
import type { UpstreamClient } from '../upstream/client.ts';
import { createKoa, createRouter } from './app.ts';
import { createHandler, type Endpoint } from './endpoint.ts';
import { createMemory } from './memory.ts';
import { noPages } from './readers.ts';
import { type ServingContext, serveRegistration } from './registrations.ts';

/** What the provider granted, with the names of all parameters of the callback. */
export interface OneGrant extends Readonly<Parameters<(Delivery & { takes: 'code' })['succeed']>[1]> {
  readonly parameters: readonly string[];
}

/** A relay for a single login, whose code it keeps. */
export type OneLogin = Awaited<ReturnType<typeof createOneLogin>>;

interface Place {
  readonly config: Config;
  /** With the one path of the login. */
  readonly registration: RegistrationConfig;
  readonly frontEnd: FrontEndConfig;
  readonly provider: Provider;
  readonly upstream: UpstreamClient;
}

/**
 * Creates a relay for one login, with the usual start, callback and protection. Otherwise, only the probes are there,
 * by which balancers recognize a relay.
 *
 * @param strayed gets the failure of each callback of another login, of the relay that was there before or of a
 *   stranger. It ends nothing
 */
export async function createOneLogin(place: Place, strayed: (failure: RelayError) => void) {
  const { config, registration, provider, upstream } = place;
  // Only a person who reads the address on the operator's terminal can start it. No other relay has a front end of this
  // name, even with the same keys, so neither ends the logins of the other.
  const name = `check-${randomBytes(16).toString('hex')}`;
  const frontEndConfig = { ...place.frontEnd, name };
  // Keys of its own: it need not read those of the relay, and opens nothing that the relay has sealed.
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
  // So that the nonce is kept, whether or not the relay reads ID tokens of this provider.
  const served = await serve({ ...provider, userFrom: 'id-token' });
  const { promise: ended, resolve: end } = Promise.withResolvers<OneGrant | RelayError>();
  const startUrl = `${served.issuer}/${name}`;
  const { origin, frontendUrl } = frontEndConfig;
  const { pages } = context;
  const answerInPlace = failurePage({ origin, frontendUrl, loginUrl: startUrl, peekLogin: served.peekLogin, pages });
  let isOver = false;
  const delivery: Delivery = {
    takes: 'code',
    succeed(ctx, granted) {
      if (isOver) throw new RelayError('state_finished');
      isOver = true;
      answerArrived(ctx);
      end({ ...granted, parameters: Object.keys(claimedQuery(ctx)) });
    },
    fail(ctx, failure) {
      answerInPlace(ctx, failure);
      if (!isOver) end(failure);
      isOver = true;
    },
  };
  // Its own start requests a refresh token, as the front end's OAuth logins do.
  const frontEnd: FrontEnd = { ...served.frontEnds.first, takesOAuth: false, deliveryOf: () => delivery };
  const { scope = provider.scope } = frontEnd;
  const answerStrayed = answerFailures((ctx, failure) => {
    answerInPlace(ctx, failure);
    strayed(failure);
  });
  const readiness = createReadiness([]);
  const common = { methods: ['GET'], readers: noPages, isLimited: false };
  const endpoints: Endpoint[] = [
    { ...common, path: paths.alive, action: 'probe', handle: alive },
    { ...common, path: paths.ready, action: 'probe', handle: ready(readiness) },
    {
      ...common,
      path: new URL(startUrl).pathname.slice(new URL(config.baseUrl).pathname.replace(/\/$/, '').length),
      action: 'start',
      failures: answerFailures(answerInPlace),
      guards: [refusePrefetch],
      handle: (ctx) => redirectToProvider(ctx, { ...served, frontEnd }, { scope }),
    },
    {
      ...common,
      path: served.callbackPath,
      action: 'callback',
      failures: answerStrayed,
      guards: [refusePrefetch],
      handle: loginCallback({ ...served, frontEnds: createFrontEnds([frontEnd]) }),
    },
  ];
  return {
    startUrl,
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

function createListener(
  { baseUrl }: Config,
  endpoints: readonly Endpoint[],
  answerInPlace: ReturnType<typeof failurePage>,
): RequestListener {
  const context = { watchOrigins: () => passOn, rateLimits: [] };
  const app = createKoa({ stopping: false }, answerInPlace);
  const { pathname } = new URL(baseUrl);
  if (pathname !== '/') app.use(withoutBasePath(pathname, (path) => endpoints.some((one) => one.path === path)));
  app.use(createRouter(endpoints, context).routes());
  const nothing = { path: '', action: undefined, readers: noPages, isLimited: false } as const;
  app.use(createHandler({ ...nothing, handle: failNotFound }, context));
  return app.callback();
}

const passOn: Endpoint['handle'] = (_, next) => next();

function failNotFound(): never {
  throw new RelayError('not_found');
}

/** The page in the browser at the end. Only the terminal says who logged in. */
function answerArrived(ctx: Context): void {
  const title = 'The login has arrived';
  ctx.body = htmlPage(
    title,
    html`<h1>${title}</h1>
<p>The terminal where <code>login-relay check</code> runs shows what the provider answers. You can close this page.</p>`,
  );
  setPageHeaders(ctx, pagePolicy());
}
