import { hash, randomBytes, randomUUID } from 'node:crypto';
import { type CodeContent, createCodes } from '../../../src/grants/codes.ts';
import { createRefreshTokens, type RefreshTokenContent } from '../../../src/grants/refresh-tokens.ts';
import { deriveKeysFromFile } from '../../../src/sealing/keys.ts';
import { Secret } from '../../../src/sealing/secret.ts';
import { canary } from '../expect/canaries.ts';
import { baseUrl, frontendOrigin } from '../relay/relay-under-test.ts';
import { redirectUri } from './oauth-front-end.ts';

/** The verifier of every code in this file. */
export const codeVerifier = randomBytes(32).toString('base64url');

/** The provider whose tokens are sealed. */
interface TokenIssuer {
  readonly tokenUrl: string;
}

/** The owner of a sealed grant, by default the registration `provider` and the front end `app`. */
interface Recipient {
  /** The name of the registration and its client identifier. */
  readonly registration?: readonly [name: string, clientId: string];
  /** The front end's name and origin. */
  readonly frontEnd?: string;
}

/** The properties of a code that is made with the key. */
interface SealedCode extends Recipient, Partial<CodeContent> {
  readonly key: string;
  /** Seconds since it was issued. */
  readonly age?: number;
}

/** The binding of the grants of a relay without an issuer. */
export function audienceAt(
  { tokenUrl }: TokenIssuer,
  [name, clientId]: readonly [string, string] = ['provider', 'client-1'],
): string {
  return `${name} ${tokenUrl} - ${clientId}`;
}

/** Makes a code like the relay, but without a request to it. */
export function sealCode(provider: TokenIssuer, sealing: SealedCode): string {
  const { key, age = 0, registration, frontEnd = `app ${frontendOrigin}`, ...changes } = sealing;
  const callback = `${baseUrl}/auth/${registration?.[0] ?? 'provider'}/callback`;
  const audience = () => `${audienceAt(provider, registration)} ${callback}`;
  const now = () => Date.now() - age * 1000;
  const codes = createCodes(deriveKeysFromFile([new Secret(key)]).code, audience, now);
  const codeChallenge = hash('sha256', codeVerifier, 'base64url');
  const content = { redirectUri, codeChallenge, providerCode: canary('code'), ...changes };
  return codes.issue(content, frontEnd);
}

/** Makes a refresh token like the relay. It is unbound by default. */
export function sealRefreshToken(
  provider: TokenIssuer,
  key: string,
  sealing: Recipient & Partial<RefreshTokenContent> = {},
): string {
  const { registration, frontEnd = `app ${frontendOrigin}`, ...changes } = sealing;
  const keys = deriveKeysFromFile([new Secret(key)]).refreshToken;
  const refreshTokens = createRefreshTokens(keys, Date.now);
  const owner = [audienceAt(provider, registration), frontEnd] as const;
  const now = Math.floor(Date.now() / 1000);
  const usual = { login: randomUUID(), loggedInAt: now, endsAt: now + 3600 };
  const providerToken = { refreshToken: canary('token') };
  const refreshToken = refreshTokens.issue({ ...usual, providerToken, ...changes }, owner);
  if (refreshToken === undefined) throw new Error('the token is too long');
  return refreshToken;
}
