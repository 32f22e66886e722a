import { generateKeyPairSync, randomBytes } from 'node:crypto';
import { mock } from 'node:test';
import { Provider } from 'oidc-provider/lib/provider.js';
import type { Page } from 'playwright-core';
import { serve } from '../../harness/provider/serve.ts';
import { freePort } from '../../harness/system/free-port.ts';
import { person, type Rig, type RunningServer, type Setup } from './rig.ts';

/**
 * oidc-provider with its development pages. It decodes Basic credentials as RFC 6749 §2.3.1 encodes them.
 *
 * @see https://github.com/panva/node-oidc-provider/blob/v9.x/docs/README.md
 */
export const oidcProvider: Rig = {
  name: 'oidc-provider 9',
  variant: 'Basic alone, PKCE demanded',
  packages: [],
  user: { sub: person.login, name: person.name },
  wrongTokenRequest: 'body',
  refusesExpiredCodes: true,
  hides: [],
  start,
};

async function start({ registration, codeSeconds }: Setup): Promise<RunningServer> {
  // It warns of its pages and its store, which are for development.
  const muted = [mock.method(console, 'warn', () => {}), mock.method(console, 'info', () => {})];
  const port = await freePort();
  const issuer = `http://127.0.0.1:${port}`;
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const provider = new Provider(issuer, {
    clients: [
      {
        client_id: registration.clientId,
        client_secret: registration.clientSecret,
        redirect_uris: [registration.redirectUri],
        response_types: ['code'],
        grant_types: ['authorization_code'],
        token_endpoint_auth_method: 'client_secret_basic',
        id_token_signed_response_alg: 'ES256',
      },
    ],
    clientAuthMethods: ['client_secret_basic'],
    responseTypes: ['code'],
    claims: { openid: ['sub', 'name'] },
    pkce: { required: () => true },
    jwks: { keys: [{ ...privateKey.export({ format: 'jwk' }), alg: 'ES256', use: 'sig' }] },
    cookies: { keys: [randomBytes(32).toString('base64url')] },
    ttl: {
      AccessToken: 600,
      AuthorizationCode: codeSeconds,
      Grant: 600,
      Interaction: 600,
      Session: 600,
    },
    findAccount: (_ctx, id) => ({
      accountId: id,
      claims: () => ({ sub: id, name: person.name }),
    }),
  });
  const server = await serve(provider.callback(), port);
  return {
    issuer,
    flags: {},
    allow: async (page) => {
      await logIn(page);
      await page.getByRole('button', { name: 'Continue' }).click();
    },
    refuse: async (page) => {
      await logIn(page);
      await page.getByRole('link', { name: 'Cancel' }).click();
    },
    async close() {
      await server.close();
      for (const { mock } of muted) mock.restore();
    },
  };
}

async function logIn(page: Page): Promise<void> {
  await page.locator('[name=login]').fill(person.login);
  await page.locator('[name=password]').fill(person.password);
  await page.getByRole('button', { name: 'Sign-in' }).click();
}
