import { generateKeyPairSync, randomBytes } from 'node:crypto';
import type { RequestListener } from 'node:http';
import Router from '@koa/router';
// The package's own entry point is these three and a warning on the console about every Node
// release that is not marked LTS.
import { SessionNotFound } from 'oidc-provider/lib/helpers/errors.js';
import { base as basePolicy } from 'oidc-provider/lib/helpers/interaction_policy/index.js';
import { Provider } from 'oidc-provider/lib/provider.js';
import { accountId, nameOf, parseName } from './account.ts';
import { readForm } from './form.ts';
import { loginPage, messagePage, styleSource } from './provider-pages.ts';
import { createMemoryStore } from './store.ts';

/** What {@link createDemoProvider} is made from. */
export interface DemoProviderOptions {
  /** The provider's own address, without a path: `http://localhost:8002`. */
  readonly issuer: string;
  /** The heading of its pages (default `Demo provider`). */
  readonly brand?: string;
  /** The one registered client; it authenticates with `client_secret_post`. */
  readonly client: {
    readonly clientId: string;
    readonly clientSecret: string;
    readonly redirectUri: string;
    /** Shown on the login page. */
    readonly name?: string;
    /** The client's start page. Pages that cannot continue a login link to it. */
    readonly homeUrl?: string;
  };
  /** Whether a request without a PKCE challenge is refused (default false). @see RFC 7636 */
  readonly pkceRequired?: boolean;
  /** Called with errors of the provider itself; by default nothing is logged. */
  readonly onError?: (error: Error) => void;
}

/** The picture of every user. */
const picture =
  '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 2 2" width="96" height="96"><circle cx="1" cy="1" r="1" fill="#3346c4"/></svg>';

const minute = 60;
const hour = 60 * minute;

/**
 * An OpenID provider in memory that accepts any name, for the demo and for tests.
 * Its user record (`/me`, scope `openid profile`) has `login`, `name`, `avatar_url` and `html_url`.
 * It gives refresh tokens, and takes each once. It keeps no login session: each authorization request shows the login page.
 */
export function createDemoProvider(options: DemoProviderOptions): RequestListener {
  const { issuer, brand = 'Demo provider', client, onError = () => {} } = options;

  const policy = basePolicy();
  policy.remove('consent');

  const provider = new Provider(issuer, {
    adapter: createMemoryStore(),
    clients: [
      {
        client_id: client.clientId,
        client_secret: client.clientSecret,
        redirect_uris: [client.redirectUri],
        response_types: ['code'],
        grant_types: ['authorization_code', 'refresh_token'],
        token_endpoint_auth_method: 'client_secret_post',
        id_token_signed_response_alg: 'ES256',
      },
    ],
    clientAuthMethods: ['client_secret_post'],
    responseTypes: ['code'],
    scopes: ['openid'],
    claims: { openid: ['sub'], profile: ['login', 'name', 'avatar_url', 'html_url'] },
    pkce: { required: () => options.pkceRequired ?? false },
    jwks: { keys: [newSigningKey()] },
    cookies: {
      keys: [randomBytes(32).toString('base64url')],
      // Cookies ignore ports. Their names and path keep them apart from those of other servers on localhost.
      names: {
        interaction: 'demo_provider_login',
        resume: 'demo_provider_resume',
        session: 'demo_provider_session',
      },
      long: { httpOnly: true, sameSite: 'lax', signed: true, path: '/authorize' },
      short: { httpOnly: true, sameSite: 'lax', signed: true },
    },
    routes: { authorization: '/authorize', revocation: '/revoke' },
    features: {
      devInteractions: { enabled: false },
      revocation: {
        enabled: true,
        allowedPolicy: async (_ctx, grantee, token) => token.clientId === grantee.clientId,
      },
      rpInitiatedLogout: { enabled: false },
    },
    issueRefreshToken: async () => true,
    interactions: { policy, url: (_ctx, interaction) => `/login/${interaction.uid}` },
    clientBasedCORS: () => false,
    expiresWithSession: () => false,
    ttl: {
      AccessToken: hour,
      AuthorizationCode: minute,
      Grant: hour,
      IdToken: hour,
      Interaction: hour,
      RefreshToken: 24 * hour,
      Session: hour,
    },
    findAccount: (_ctx, id) => ({ accountId: id, claims: () => claimsOf(id, issuer) }),
    // The login page is the consent page as well: every requested scope is granted.
    loadExistingGrant: async (ctx) => {
      const { client: grantee, session } = ctx.oidc;
      if (grantee === undefined || session?.accountId === undefined) return undefined;
      const grant = new provider.Grant({
        clientId: grantee.clientId,
        accountId: session.accountId,
      });
      grant.addOIDCScope([...ctx.oidc.requestParamScopes].join(' '));
      await grant.save();
      return grant;
    },
    renderError: (ctx, { error, error_description: description }) => {
      ctx.type = 'html';
      ctx.body =
        error === 'server_error'
          ? brokenPage()
          : messagePage({
              title: 'This request cannot be served',
              text: description ? `${error}: ${description}` : error,
              ...home,
            });
    },
  });

  const home = { brand, ...(client.homeUrl !== undefined && { homeUrl: client.homeUrl }) };
  const clientName = client.name ?? client.clientId;
  const brokenPage = () =>
    messagePage({ title: 'The demo provider failed', text: 'Please start again.', ...home });

  const router = new Router();

  router.get('/login/:uid', async (ctx) => {
    await provider.interactionDetails(ctx.req, ctx.res);
    ctx.body = loginPage({ brand, clientName });
  });

  router.post('/login/:uid', async (ctx) => {
    await provider.interactionDetails(ctx.req, ctx.res);
    const form = await readForm(ctx.req);
    if (form === undefined) {
      ctx.status = 413;
      ctx.set('Connection', 'close');
      ctx.body = messagePage({
        title: 'That was too much',
        text: 'The form is too long.',
        ...home,
      });
      return;
    }
    if (form.get('action') === 'cancel') {
      ctx.redirect(
        await provider.interactionResult(ctx.req, ctx.res, {
          error: 'access_denied',
          error_description: 'The login was cancelled.',
        }),
      );
      ctx.status = 303;
      return;
    }
    const name = parseName(form.get('name') ?? '');
    if (name === undefined) {
      ctx.status = 400;
      ctx.body = loginPage({
        brand,
        clientName,
        problem: 'Please enter a name of up to 60 characters.',
      });
      return;
    }
    const login = { accountId: accountId(name) };
    ctx.redirect(await provider.interactionResult(ctx.req, ctx.res, { login }));
    ctx.status = 303;
  });

  router.get('/picture.svg', (ctx) => {
    ctx.set('Cross-Origin-Resource-Policy', 'cross-origin');
    ctx.type = 'image/svg+xml';
    ctx.body = picture;
  });

  router.get('/', (ctx) => {
    ctx.body = messagePage({ title: 'Everybody', text: 'Any name can log in here.', ...home });
  });

  provider.use(async (ctx, next) => {
    ctx.set({
      'Cache-Control': 'no-store',
      // No form-action: browsers apply it to redirects too, and the login form's answer leads on
      // to the client and from there to wherever the client sends its users.
      'Content-Security-Policy': `default-src 'none'; style-src ${styleSource}; img-src 'self' data:; base-uri 'none'; frame-ancestors 'none'`,
      'Referrer-Policy': 'no-referrer',
      'X-Content-Type-Options': 'nosniff',
    });
    try {
      await next();
    } catch (error) {
      if (error instanceof SessionNotFound) {
        ctx.status = 400;
        ctx.body = messagePage({
          title: 'This login is over',
          text: 'It was finished already, took too long, or was started in another browser.',
          ...home,
        });
      } else if (ctx.writable) {
        onError(error instanceof Error ? error : new Error('unknown fault'));
        ctx.status = 500;
        ctx.body = brokenPage();
      }
      return;
    }
    if (ctx.status === 404 && !ctx.body) {
      ctx.status = 404;
      ctx.body = messagePage({ title: 'Nothing here', text: 'No such page.', ...home });
    }
  });
  provider.use(router.routes());
  provider.on('server_error', (_ctx, error) => onError(error));
  provider.onerror = onError;

  return provider.callback();
}

function claimsOf(id: string, issuer: string) {
  const name = nameOf(id);
  return {
    sub: id,
    login: name.toLowerCase().replaceAll(' ', '-'),
    name,
    avatar_url: `${issuer}/picture.svg`,
    html_url: `${issuer}/`,
  };
}

function newSigningKey() {
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  return { ...privateKey.export({ format: 'jwk' }), alg: 'ES256', use: 'sig' };
}
