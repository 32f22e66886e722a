import type { LoginOptions, Session } from '../client.d.ts';
import { on } from './errors.ts';
import type { Keeper } from './keeper.ts';
import { challengeOf, newKey, prove } from './proof.ts';
import { ask, read } from './relay.ts';
import { load, save } from './store.ts';

/**
 * Keeps the access token in memory, and the refresh token in this browser, bound to a key.
 *
 * @param name of the record in this browser
 * @see RFC 7636, RFC 9449
 */
export function keepTokens(options: LoginOptions, name: string): Keeper {
  const { relay, clientId, redirectUri = '' } = options;

  /** How far the relay's clock is ahead of this device's, in milliseconds. */
  let ahead = 0;

  async function post(endpoint: string, parameters: Record<string, string>, headers = {}) {
    const body = new URLSearchParams({ client_id: clientId, ...parameters });
    const response = await ask(`${relay}/${endpoint}`, { method: 'POST', body, headers });
    ahead = Date.parse(response.headers.get('Date') ?? '') - Date.now() || 0;
    return read(response);
  }

  async function getTokens(key: CryptoKeyPair, parameters: Record<string, string>) {
    const send = async () =>
      post('token', parameters, {
        DPoP: await prove(key, `${relay}/token`, (Date.now() + ahead) / 1000),
      });
    // The clock of this device may be wrong. The relay's is known by now.
    const answer = await send().catch(on('invalid_dpop_proof', send));
    await save(name, { key, refreshToken: answer.refresh_token });
    return { accessToken: answer.access_token, scope: answer.scope } satisfies Session;
  }

  async function forget() {
    await save(name);
    return null;
  }

  return {
    start: async (verifier) => ({
      response_type: 'code',
      code_challenge: await challengeOf(verifier),
      code_challenge_method: 'S256',
      redirect_uri: redirectUri,
    }),

    async finish(code, code_verifier) {
      const key = (await load(name))?.key ?? (await newKey());
      return getTokens(key, { grant_type: 'authorization_code', code, code_verifier });
    },

    async renew() {
      const kept = await load(name);
      if (!kept?.refreshToken) return null;
      const parameters = { grant_type: 'refresh_token', refresh_token: kept.refreshToken };
      return getTokens(kept.key, parameters).catch(on('invalid_grant', forget));
    },

    async end(session) {
      const token = (await load(name))?.refreshToken ?? session?.accessToken;
      await forget();
      // Nobody waits for it: the page is logged out, whatever the provider says.
      if (token) post('revoke', { token }).catch(() => {});
      return undefined;
    },

    header: ({ accessToken }) => ['Authorization', `Bearer ${accessToken}`],
    init: {},
  };
}
