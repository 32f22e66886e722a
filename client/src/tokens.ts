import type { LoginOptions, Session } from '../client.d.ts';
import { on } from './errors.ts';
import type { Keeper } from './keeper.ts';
import { challengeOf, newKey, prove } from './proof.ts';
import { ask, read } from './relay.ts';
import { type Kept, load, save } from './store.ts';

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
  let nonce: string | undefined;
  /** What the browser does not keep. */
  let unsaved: Kept | undefined;

  async function post(endpoint: string, parameters: Record<string, string>, headers = {}) {
    const body = new URLSearchParams({ client_id: clientId, ...parameters });
    const response = await ask(`${relay}/${endpoint}`, { method: 'POST', body, headers });
    ahead = Date.parse(response.headers.get('Date') ?? '') - Date.now() || 0;
    nonce = response.headers.get('DPoP-Nonce') ?? nonce;
    return read(response);
  }

  async function getTokens(key: CryptoKeyPair, parameters: Record<string, string>) {
    const send = async () =>
      post('token', parameters, {
        DPoP: await prove(key, `${relay}/token`, (Date.now() + ahead) / 1000, nonce),
      });
    // The relay's nonce is known by now, and its clock: that of this device may be wrong.
    const answer = await send()
      .catch(on('use_dpop_nonce', send))
      .catch(on('invalid_dpop_proof', send));
    await keep({ key, refreshToken: answer.refresh_token, nonce });
    return { accessToken: answer.access_token, scope: answer.scope } satisfies Session;
  }

  async function keep(next?: Kept) {
    unsaved = (await save(name, next)) === null ? next : undefined;
  }

  async function find() {
    const kept = unsaved ?? (await load(name));
    nonce = kept?.nonce ?? nonce;
    return kept;
  }

  async function forget() {
    await keep();
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
      const key = (await find())?.key ?? (await newKey());
      return getTokens(key, { grant_type: 'authorization_code', code, code_verifier });
    },

    async renew(session) {
      const kept = await find();
      if (kept === undefined) return null;
      // There is nothing to refresh with, so nobody refuses it.
      if (!kept?.refreshToken) return session;
      const parameters = { grant_type: 'refresh_token', refresh_token: kept.refreshToken };
      return getTokens(kept.key, parameters).catch(on('invalid_grant', forget));
    },

    forget,

    async end(session) {
      const token = (await find())?.refreshToken ?? session?.accessToken;
      await forget();
      // Nobody waits for it: the page is logged out, whatever the provider says.
      if (token) post('revoke', { token }).catch(() => {});
      return undefined;
    },

    header: ({ accessToken }) => ['Authorization', `Bearer ${accessToken}`],
    init: {},
  };
}
