import * as oauth from 'oauth4webapi';
import { load, save } from './storage.js';

const issuer = 'http://localhost:8000/auth/provider';
const client = { client_id: 'app' };
const page = `${location.origin}/`; // one of your redirect URIs
const server = {
  issuer,
  authorization_endpoint: issuer,
  token_endpoint: `${issuer}/token`,
  revocation_endpoint: `${issuer}/revoke`,
  authorization_response_iss_parameter_supported: true,
};

/** Sends the person to the provider. They come back to the page. */
export async function logIn() {
  const state = oauth.generateRandomState();
  const verifier = oauth.generateRandomCodeVerifier();
  sessionStorage.setItem('login', JSON.stringify({ state, verifier }));
  const code_challenge = await oauth.calculatePKCECodeChallenge(verifier);
  const request = { response_type: 'code', code_challenge, code_challenge_method: 'S256' };
  location.href = `${issuer}?${new URLSearchParams({ ...client, ...request, redirect_uri: page, state })}`;
}

/** Call this whenever the page loads. It ends a login, if one comes back, and throws if that failed. */
export async function finishLogin() {
  const response = new URL(location.href).searchParams;
  if (!response.has('iss')) return;
  history.replaceState(null, '', page);
  const { state, verifier } = JSON.parse(sessionStorage.getItem('login') ?? '{}');
  if (response.get('state') !== state) return; // This tab has not started it. It may be a forged link.
  sessionStorage.removeItem('login');
  const code = oauth.validateAuthResponse(server, client, response, state);
  await alone(() =>
    withNonce(async () => {
      const answer = await oauth.authorizationCodeGrantRequest(
        server,
        client,
        oauth.None(),
        code,
        page,
        verifier,
        options,
      );
      await keep(await oauth.processAuthorizationCodeResponse(server, client, answer));
    }),
  );
}

/** The relay says in its first answer which nonce proves that a request is new. */
const withNonce = (request) =>
  request().catch((error) => {
    if (!oauth.isDPoPNonceError(error)) throw error;
    return request();
  });

let accessToken;
const tabs = new BroadcastChannel('login');
tabs.onmessage = ({ data }) => {
  accessToken = data;
  dispatchEvent(new Event('login')); // Another tab has logged in or out, or has a new token.
};

/** One tab at a time: they share the key and the refresh token. */
const alone = (task) => navigator.locks.request('login', task);

const options = await alone(async () => {
  const key = (await load('key')) ?? (await oauth.generateKeyPair('ES256'));
  await save('key', key);
  // The library refuses http. A relay on this machine has no https.
  const isLocal = new URL(issuer).hostname === 'localhost';
  return { DPoP: oauth.DPoP(client, key), [oauth.allowInsecureRequests]: isLocal };
});

async function keep(tokens) {
  await save('refresh token', tokens?.refresh_token);
  accessToken = tokens?.access_token;
  tabs.postMessage(accessToken);
}

function refresh(expired) {
  return alone(async () => {
    const refreshToken = await load('refresh token');
    if (accessToken !== expired) return; // Another tab was faster.
    if (refreshToken === undefined) return expired && keep(undefined);
    try {
      await withNonce(async () => {
        const answer = await oauth.refreshTokenGrantRequest(
          server,
          client,
          oauth.None(),
          refreshToken,
          options,
        );
        await keep(await oauth.processRefreshTokenResponse(server, client, answer));
      });
    } catch (error) {
      if (error.error !== 'invalid_grant') throw error; // Try again later: the refresh token is good.
      await keep(undefined);
    }
  });
}

/** Fetches with the access token. Returns undefined if the person is not logged in. */
export async function fetchAsUser(url) {
  const send = () => fetch(url, { headers: { Authorization: `Bearer ${accessToken}` } });
  const used = accessToken;
  const response = used && (await send());
  if (response && response.status !== 401) return response;
  await refresh(used);
  if (accessToken === undefined) return undefined;
  const second = await send();
  if (second.status !== 401) return second;
  await alone(() => keep(undefined)); // A new token is refused too: the login is over.
}

export const logOut = () =>
  alone(async () => {
    const token = (await load('refresh token')) ?? accessToken;
    await keep(undefined);
    if (token === undefined) return;
    const answer = await oauth.revocationRequest(server, client, oauth.None(), token, options);
    await oauth.processRevocationResponse(answer);
  });
