import { randomBytes } from 'node:crypto';
import { deriveCodeChallenge, deriveLoginParts } from '../../../src/login/pkce.ts';
import { createStates, type OAuthRequest } from '../../../src/login/state.ts';
import { deriveKeysFromFile } from '../../../src/sealing/keys.ts';
import { Secret } from '../../../src/sealing/secret.ts';
import type { Login } from '../browser/fake-browser.ts';
import { remember } from '../expect/canaries.ts';
import type { StrictProvider } from '../provider/strict-provider.ts';
import { registration } from '../relay/relay-under-test.ts';
import { audienceAt } from './sealed-grants.ts';

/** The properties of a login that is made with the key. */
export interface Sealing {
  readonly key: string;
  readonly clientId?: string;
  readonly redirectUri?: string;
  /** The age of the login in seconds. It is negative for a login from the future. */
  readonly age?: number;
  readonly frontEndState?: string;
  /** The OAuth request that started the login, if there was one. */
  readonly oauth?: OAuthRequest;
  /** The page that a session begins at. */
  readonly returnTo?: string;
}

/** Makes a login like the relay, but without a request to it: of any age, any audience, any key. */
export function sealLogin(provider: StrictProvider, sealing: Sealing): Login {
  const { clientId, redirectUri } = { ...registration(), ...sealing };
  const issuedAt = Math.floor(Date.now() / 1000) - (sealing.age ?? 0);
  const { frontEndState: ownState, oauth, returnTo } = sealing;
  const request = { state: ownState, oauth, returnTo };
  const secret = randomBytes(32);
  const { id, codeVerifier } = deriveLoginParts(secret);
  const audience = () => audienceAt(provider, ['provider', clientId]);
  const states = createStates(deriveKeysFromFile([new Secret(sealing.key)]).state, audience, redirectUri);
  const { state } = states.seal({ id, issuedAt, frontEnd: 'app', request });
  const authorizationRequest = new URL(provider.authorizeUrl);
  authorizationRequest.search = new URLSearchParams({
    response_type: 'code',
    client_id: provider.registration.clientId,
    redirect_uri: provider.registration.redirectUri,
    code_challenge: deriveCodeChallenge(codeVerifier),
    code_challenge_method: 'S256',
    state,
  }).toString();
  const name = `__Host-Http-lr_login_${id.toString('hex', 0, 8)}`;
  const value = secret.toString('base64url');
  remember(state, value);
  return {
    authorizationRequest,
    state,
    code: provider.authorize(authorizationRequest),
    cookie: { name, value },
  };
}
