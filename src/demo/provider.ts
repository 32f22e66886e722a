import { generateKeyPairSync, randomBytes } from 'node:crypto';
import type { RequestListener } from 'node:http';
import type { AdapterFactory, Configuration, KoaContextWithOIDC } from 'oidc-provider';
import { createMemoryAdapter } from 'oidc-provider/lib/adapters/memory_adapter.js';
// The package's own entry point also writes a warning to the console about every Node release that is
// not marked LTS.
import { base as basePolicy } from 'oidc-provider/lib/helpers/interaction_policy/index.js';
import { Provider } from 'oidc-provider/lib/provider.js';
import { answerFailures, chooseAccount, nameOf, serveLogin } from './provider-login.ts';
import { brokenPage, messagePage } from './provider-pages.ts';

/** What {@link createDemoProvider} is made from. */
export interface DemoProviderOptions {
  /** The provider's own address, without a path: `http://localhost:8002`. */
  readonly issuer: string;
  /** The one registered client; it authenticates with `client_secret_post`. */
  readonly client: {
    readonly clientId: string;
    readonly clientSecret: string;
    readonly redirectUri: string;
    /** Shown on the login page. */
    readonly name?: string;
  };
  /** Whether a request without a PKCE challenge is refused (default false). @see RFC 7636 */
  readonly pkceRequired?: boolean;
  /** Called with errors of the provider itself; by default nothing is logged. */
  readonly onError?: (error: Error) => void;
}

const minute = 60;
const hour = 60 * minute;

/**
 * An OpenID provider in memory that accepts any name, for the demo and for tests.
 * Its user record (`/me`, scope `openid profile`) has `login` and `name`.
 * It gives refresh tokens, and takes each once. It keeps no login session: each authorization request shows the login page.
 */
export function createDemoProvider(options: DemoProviderOptions): RequestListener {
  const { issuer, client, onError = () => {} } = options;
  const provider = new Provider(issuer, configurationOf(options));
  provider.use(answerFailures(onError));
  provider.use(chooseAccount);
  provider.use(serveLogin(provider, client.name ?? client.clientId));
  provider.on('server_error', (_ctx, error) => onError(error));
  provider.onerror = onError;
  return provider.callback();
}

function configurationOf({ client, pkceRequired = false }: DemoProviderOptions): Configuration {
  const policy = basePolicy();
  policy.remove('consent');
  return {
    adapter: createStore(),
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
    claims: { openid: ['sub'], profile: ['login', 'name'] },
    pkce: { required: () => pkceRequired },
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
    findAccount: (_ctx, id) => ({ accountId: id, claims: () => claimsOf(id) }),
    loadExistingGrant: grantEverything,
    renderError: (ctx, { error, error_description: description = '' }) => {
      ctx.type = 'html';
      ctx.body =
        error === 'server_error'
          ? brokenPage
          : messagePage('This request cannot be served', `${error}: ${description}`);
    },
  };
}

/**
 * Keeps codes, tokens and pending logins in memory, the newest ones. It keeps no login sessions. So the demo always
 * shows the login page, and logins in several tabs do not interfere.
 */
function createStore(): AdapterFactory {
  const inMemory = createMemoryAdapter();
  return (model) => {
    const store = inMemory(model);
    return model === 'Session' ? Object.assign(store, { upsert: async () => {} }) : store;
  };
}

/** The login page is the consent page as well: every requested scope is granted. */
async function grantEverything({ oidc }: KoaContextWithOIDC) {
  const { client, session, provider, requestParamScopes } = oidc;
  if (client === undefined || session?.accountId === undefined) return undefined;
  const grant = new provider.Grant({ clientId: client.clientId, accountId: session.accountId });
  grant.addOIDCScope([...requestParamScopes].join(' '));
  await grant.save();
  return grant;
}

function claimsOf(id: string) {
  const name = nameOf(id);
  return { sub: id, login: name.toLowerCase().replaceAll(' ', '-'), name };
}

function newSigningKey() {
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  return { ...privateKey.export({ format: 'jwk' }), alg: 'ES256', use: 'sig' };
}
