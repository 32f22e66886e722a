import { generateKeyPairSync, randomBytes } from 'node:crypto';
import { mock } from 'node:test';
import { Provider } from 'oidc-provider/lib/provider.js';
import { openPort } from '../../../src/demo/ports.ts';
import type { FakeBrowser, Page } from '../browser/fake-browser.ts';
import { type Client, redirectUri } from '../relay/relay-under-test.ts';

type ClientAuthentication = 'client_secret_basic' | 'client_secret_post';

/** How the provider is set up. */
export interface CertifiedProviderOptions {
  readonly client: Client & { readonly redirectUri?: string };
  /** The methods of client authentication that it accepts and lists. By default, only Basic. */
  readonly clientAuthentication?: readonly ClientAuthentication[];
  /** With `unadvertised`, its metadata does not mention PKCE. */
  readonly pkce?: 'required' | 'optional' | 'unadvertised';
  /**
   * Gives refresh tokens for the scope `offline_access`, and a new refresh token at each refresh. If a refresh token is
   * used twice, the login ends. It also revokes tokens.
   */
  readonly refreshes?: boolean;
  /** The claim `groups` of each user, for the scope `groups`. Tests change it. */
  readonly groups?: Readonly<Record<string, readonly string[]>>;
  /** By default, any free port. */
  readonly port?: number;
}

/** A certified OpenID provider with its own pages, on loopback. */
export type CertifiedProvider = Awaited<ReturnType<typeof startCertifiedProvider>>;

/** The provider's record of the user `login`. */
export function recordOf(login: string) {
  return { sub: login, name: `The person ${login}` };
}

/** Starts the provider; the caller closes it. */
export async function startCertifiedProvider({
  client,
  clientAuthentication = ['client_secret_basic'],
  pkce = 'optional',
  refreshes = false,
  groups = {},
  port: wanted = 0,
}: CertifiedProviderOptions) {
  // It warns of its pages, its store and its error page, which are for development.
  const muted = [mock.method(console, 'warn', () => {}), mock.method(console, 'info', () => {})];
  const port = await openPort(wanted, 'a test');
  const issuer = `http://127.0.0.1:${port.port}`;
  /** The names of the parts of the token requests, without the values. */
  const tokenRequests: { authorization: string | undefined; parameters: string[] }[] = [];
  const running = {
    issuer,
    tokenRequests,
    async close() {
      await port.close();
      for (const { mock } of muted) mock.restore();
    },
  };
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const provider = new Provider(issuer, {
    clients: [
      {
        client_id: client.clientId,
        client_secret: client.clientSecret,
        redirect_uris: [client.redirectUri ?? redirectUri],
        response_types: ['code'],
        grant_types: ['authorization_code', ...(refreshes ? ['refresh_token'] : [])],
        token_endpoint_auth_method: clientAuthentication[0] ?? 'none',
        id_token_signed_response_alg: 'ES256',
      },
    ],
    clientAuthMethods: [...clientAuthentication],
    responseTypes: ['code'],
    claims: { openid: ['sub', 'name'], groups: ['groups'] },
    scopes: ['openid', 'offline_access', 'profile', 'groups'],
    pkce: { required: () => pkce === 'required' },
    jwks: { keys: [{ ...privateKey.export({ format: 'jwk' }), alg: 'ES256', use: 'sig' }] },
    cookies: { keys: [randomBytes(32).toString('base64url')] },
    features: { revocation: { enabled: refreshes } },
    rotateRefreshToken: refreshes,
    ttl: {
      AccessToken: 600,
      AuthorizationCode: 60,
      Grant: 600,
      Interaction: 600,
      RefreshToken: 600,
      Session: 600,
    },
    findAccount: (_ctx, id) => ({
      accountId: id,
      claims: () => ({ ...recordOf(id), groups: groups[id] }),
    }),
  });
  provider.use(async (ctx, next) => {
    await next();
    if (ctx.path === '/token') {
      const [authorization] = ctx.get('authorization').split(' ');
      const parameters = Object.keys(ctx['oidc'].body ?? {}).sort();
      tokenRequests.push({ authorization: authorization || undefined, parameters });
    }
    if (pkce === 'unadvertised' && ctx.path === '/.well-known/openid-configuration') {
      const { code_challenge_methods_supported: _, ...metadata } = ctx.body;
      ctx.body = metadata;
    }
  });
  port.serve(provider.callback());
  return running;
}

/** Logs in on the provider's login page and agrees on the page after it. */
export async function signIn(browser: FakeBrowser, loginPage: Page, login: string): Promise<Page> {
  const consentPage = await browser.submit(loginPage, { login, password: 'any' });
  return await browser.submit(consentPage);
}
