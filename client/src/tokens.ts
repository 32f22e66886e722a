import type { LoginOptions } from '../client.d.ts';
import { on } from './errors.ts';
import type { Keeper, Known } from './keeper.ts';
import { challengeOf, newKey, prove } from './proof.ts';
import { ask, read } from './relay.ts';
import { type Kept, load, save } from './store.ts';

/**
 * Keeps the tokens in this browser: sealed, and the refresh token bound to a key.
 *
 * @param name of the record in this browser
 * @see RFC 7636, RFC 9449
 */
export function keepTokens(options: LoginOptions, name: string): Keeper {
  const { relay, clientId, redirectUri = '', resource } = options;
  /** @see RFC 8707 §2 */
  const target: Record<string, string> = resource ? { resource } : {};

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

  async function getTokens(
    key: CryptoKeyPair,
    id: string,
    parameters: Record<string, string>,
  ): Promise<Known> {
    const form = { ...parameters, ...target };
    const send = async () =>
      post('token', form, {
        DPoP: await prove(key, `${relay}/token`, (Date.now() + ahead) / 1000, nonce),
      });
    // The relay's nonce is known by now, and its clock: that of this device may be wrong.
    const answer = await send()
      .catch(on('use_dpop_nonce', send))
      .catch(on('invalid_dpop_proof', send));
    const { access_token, refresh_token: refreshToken, scope, identity } = answer;
    const { expires_in = 3660 } = answer;
    // If nobody knows when the token ends, the relay is asked each hour: it may have ended the login.
    const until = Date.now() + Math.max(expires_in - 60, expires_in / 2) * 1000;
    const session = { accessToken: access_token, scope, id, until, identity };
    const kept = { session, refreshToken, key };
    unsaved = (await save(name, kept)) ? undefined : kept;
    return session;
  }

  /** @returns undefined if there is no login, null if the browser does not say */
  const find = async (session: Known | null) =>
    session && session.id === unsaved?.session.id ? unsaved : load(name);

  const forget = () => save(name).then(() => null);

  return {
    start: async (verifier) => ({
      response_type: 'code',
      code_challenge: await challengeOf(verifier),
      code_challenge_method: 'S256',
      redirect_uri: redirectUri,
      ...target,
    }),

    async finish(code, code_verifier) {
      const parameters = { grant_type: 'authorization_code', code, code_verifier };
      return getTokens(await newKey(), crypto.randomUUID(), parameters);
    },

    async restore(session, isRefused) {
      const kept = await find(session);
      if (kept === undefined) return null;
      if (!kept || kept.session.until < Date.now()) return undefined;
      if (kept.session.accessToken !== session?.accessToken) return kept.session;
      return isRefused ? undefined : session;
    },

    async refresh(session) {
      const kept = await find(session);
      if (!kept?.refreshToken) {
        // There is nothing to refresh with, so the relay never refuses it. A lookup of the user would.
        return kept?.session.identity && kept.session.until < Date.now() ? forget() : session;
      }
      const parameters = { grant_type: 'refresh_token', refresh_token: kept.refreshToken };
      return getTokens(kept.key, kept.session.id, parameters)
        .catch(on('invalid_grant', forget))
        .catch(on('invalid_target', forget));
    },

    forget,

    async end(session) {
      const token = (await find(session))?.refreshToken ?? session?.accessToken;
      await forget();
      // Nobody waits for it: the page is logged out, whatever the provider says.
      if (token) post('revoke', { token }).catch(() => {});
      return undefined;
    },

    fetch: (request, { accessToken }) => {
      request.headers.set('Authorization', `Bearer ${accessToken}`);
      return fetch(request);
    },
  };
}
