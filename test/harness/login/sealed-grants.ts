import { hash, randomBytes } from 'node:crypto';
import { createCodes } from '../../../src/grants/codes.ts';
import {
  createRefreshTokens,
  type RefreshTokenContent,
} from '../../../src/grants/refresh-tokens.ts';
import { keysFromFile } from '../../../src/keys.ts';
import { Secret } from '../../../src/secret.ts';
import { canary } from '../expect/canaries.ts';
import { frontendOrigin } from '../relay/relay-under-test.ts';
import { redirectUri } from './oauth-front-end.ts';

/** The verifier of every code in this file. */
export const codeVerifier = randomBytes(32).toString('base64url');

/** The properties of a code that is made with the key. */
interface SealedCode {
  readonly key: string;
  readonly registration?: string;
  readonly frontEnd?: string;
  readonly redirectUri?: string;
  readonly providerCode?: string;
  /** Seconds since it was issued. */
  readonly age?: number;
}

/** Makes a code like the relay, but without a request to it. */
export async function sealCode({ key, age = 0, ...names }: SealedCode): Promise<string> {
  const codes = createCodes(keysFromFile([new Secret(key)]).code, () => Date.now() - age * 1000);
  return await codes.issue({
    registration: 'provider client-1',
    frontEnd: 'app',
    redirectUri,
    codeChallenge: hash('sha256', codeVerifier, 'base64url'),
    providerCode: canary('code'),
    ...names,
  });
}

/** Makes a refresh token like the relay. It is unbound by default. */
export async function sealRefreshToken(
  key: string,
  changes: Partial<RefreshTokenContent> = {},
): Promise<string> {
  const refreshTokens = createRefreshTokens(keysFromFile([new Secret(key)]).refreshToken, Date.now);
  const now = Math.floor(Date.now() / 1000);
  const refreshToken = await refreshTokens.issue({
    registration: 'provider client-1',
    frontEnd: `app ${frontendOrigin}`,
    loggedInAt: now,
    endsAt: now + 3600,
    providerToken: { refreshToken: canary('token') },
    ...changes,
  });
  if (refreshToken === undefined) throw new Error('the token is too long');
  return refreshToken;
}
