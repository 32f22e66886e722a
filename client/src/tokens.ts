import type { LoginOptions } from '../client.d.ts';
import { on } from './errors.ts';
import { endOf, type Keeper, type Known } from './keeper.ts';
import { challengeOf, createKey, prove } from './proof.ts';
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

  /** Keeps a login in the browser, or, if the browser refuses, in this page. */
  async function keep(kept: Kept) {
    unsaved = (await save(name, kept)) ? undefined : kept;
  }

  /** Posts a form to the relay, and learns its clock and its newest nonce. @throws {LoginError} */
  async function post(endpoint: string, parameters: Record<string, string>, headers = {}) {
    const body = new URLSearchParams({ client_id: clientId, ...parameters });
    const response = await ask(`${relay}/${endpoint}`, { method: 'POST', body, headers });
    ahead = Date.parse(response.headers.get('Date') ?? '') - Date.now() || 0;
    nonce = response.headers.get('DPoP-Nonce') ?? nonce;
    return read(response);
  }

  /**
   * Requests tokens with a proof of the key, and keeps them.
   *
   * @param before the session whose id and user the new session takes over
   * @throws {LoginError}
   */
  async function getTokens(
    key: CryptoKeyPair,
    before: Pick<Known, 'id' | 'user'>,
    parameters: Record<string, string>,
  ): Promise<Known> {
    const form = { ...parameters, ...target };
    const send = async () =>
      post('token', form, {
        DPoP: await prove(key, `${relay}/token`, (Date.now() + ahead) / 1000, nonce),
      });
    // By now, the relay's nonce and clock are known. The clock of this device may be wrong.
    const answer = await send().catch(on(/dpop/, send));
    const {
      access_token: accessToken,
      refresh_token: refreshToken,
      token_type: _,
      expires_in,
      refresh_token_expires_in: __,
      scope,
      identity,
      ...fields
    } = answer;
    const expiresAt = endOf(expires_in);
    // If it is unknown when the token ends, the relay is asked each hour, because it may have ended the login.
    const lifetime = expires_in ?? 3660;
    const until = Date.now() + Math.max(lifetime - 60, lifetime / 2) * 1000;
    const user = identity ?? before.user;
    const session = { accessToken, scope, id: before.id, user, identity, fields, expiresAt, until };
    await keep({ session, refreshToken, key });
    return session;
  }

  /** Finds what is kept of the login. @returns undefined if there is no login, null if the browser does not say */
  const find = async (session: Known | null | undefined) =>
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
      return getTokens(await createKey(), { id: crypto.randomUUID() }, parameters);
    },

    async restore(session, isRefused) {
      const kept = await find(session);
      if (!kept) return kept === null ? session : null;
      // The login is known at once, even while the relay does not answer. A call that needs a token refreshes the
      // login.
      if (session && kept.session.until < Date.now()) return undefined;
      if (kept.session.accessToken !== session?.accessToken) return kept.session;
      return isRefused ? undefined : session;
    },

    async refresh(session) {
      const kept = await find(session);
      if (!kept?.refreshToken) {
        // Without a refresh token, only a lookup of the user can show that the login has ended.
        return kept?.session.identity && kept.session.until < Date.now() ? forget() : (session ?? null);
      }
      const parameters = { grant_type: 'refresh_token', refresh_token: kept.refreshToken };
      return getTokens(kept.key, kept.session, parameters).catch(on(/invalid_(grant|target)/, forget));
    },

    async note(session) {
      const kept = await find(session);
      const { user } = session;
      if (kept?.session.id !== session.id) return;
      await keep({ ...kept, session: { ...kept.session, user } });
    },

    forget,

    async end(session) {
      const token = (await find(session))?.refreshToken ?? session?.accessToken;
      await forget();
      // Nothing waits for the revocation, because the page is logged out whatever the provider says.
      if (token) post('revoke', { token }).catch(() => {});
      return undefined;
    },

    fetch: (request, { accessToken }) => {
      request.headers.set('Authorization', `Bearer ${accessToken}`);
      return fetch(request);
    },
  };
}
