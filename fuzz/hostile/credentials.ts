import { hash } from 'node:crypto';
import { createNonces } from '../../src/grants/dpop-proofs.ts';
import type { RefreshTokenContent } from '../../src/grants/refresh-tokens.ts';
import { deriveKeysFromFile } from '../../src/sealing/keys.ts';
import { Secret } from '../../src/sealing/secret.ts';
import { makeProof, newProofKey } from '../../test/harness/client/proof.ts';
import { sealCode, sealRefreshToken } from '../../test/harness/login/sealed-grants.ts';
import { frontEnds, issuer, registrations, stateKey } from './front-ends.ts';
import { createLogins } from './login-credentials.ts';
import { forbidden, granted, hidden, locked } from './markers.ts';
import type { Random } from './random.ts';
import { createSessionCookies } from './session-cookies.ts';

/** The parameters of a token request. */
export type TokenRequest = Readonly<Record<string, string>>;

/** What an attacker may hold and only the relay can seal. */
export interface Credentials {
  readonly login: ReturnType<typeof createLogins>;
  /** Valid token requests, some of them with a proof. */
  readonly good: readonly [TokenRequest, ...TokenRequest[]];
  /** Token requests that it must refuse without a call to the token endpoint. */
  readonly hopeless: readonly [TokenRequest, ...TokenRequest[]];
  /** Token requests that are valid except for a foreign origin. */
  readonly foreign: readonly [TokenRequest, ...TokenRequest[]];
  /** Proofs that the relay accepts once. */
  readonly proofs: readonly [string, ...string[]];
  readonly sessions: ReturnType<ReturnType<typeof createSessionCookies>>;
}

/** Makes the credentials of one connection. */
export type CredentialSource = (random: Random) => Promise<Credentials>;

type Sealing = Omit<Parameters<typeof sealCode>[1], 'key'>;

const day = 86_400;
const tokenUrl = `${issuer}/token`;
const seconds = () => Math.floor(Date.now() / 1000);

/** Prepares the credentials with the relay's key. */
export async function createCredentials(
  providerOrigin: string,
  states: Parameters<typeof createLogins>[0],
): Promise<CredentialSource> {
  const keys = deriveKeysFromFile([new Secret(stateKey)]);
  const at = { tokenUrl: `${providerOrigin}/token` };
  const issue = (content: Sealing) => sealCode(at, { key: stateKey, ...content });
  const foreign = { registration: ['other', registrations.provider] } as const;
  const [key, { thumbprint: otherKey }] = await Promise.all([newProofKey(), newProofKey()]);
  const nonces = createNonces(keys.nonce, Date.now);
  const login = createLogins(states);
  const sessions = createSessionCookies(keys.session, providerOrigin);
  const app = `app ${frontEnds.app.origin}`;
  const [redirectUri] = frontEnds.app.pages;
  let count = 0;

  function codeFor(verifier: string, marker: string): Sealing {
    count += 1;
    const codeChallenge = hash('sha256', verifier, 'base64url');
    const codeVerifier = count % 2 === 0 ? `${hidden}${'v'.repeat(43)}` : undefined;
    const providerCode = `${marker}code-${count}`;
    return { frontEnd: app, redirectUri, codeChallenge, providerCode, codeVerifier };
  }

  function redemption(code: string, verifier: string): TokenRequest {
    return { grant_type: 'authorization_code', client_id: 'app', code, code_verifier: verifier };
  }

  function redemptionOf(random: Random, marker: string): TokenRequest {
    const verifier = verifierOf(random);
    const named = random.oneIn(2) ? {} : { redirect_uri: redirectUri };
    return { ...redemption(issue(codeFor(verifier, marker)), verifier), ...named };
  }

  function hopelessRedemption(random: Random): TokenRequest {
    const verifier = verifierOf(random);
    const content = codeFor(verifier, forbidden);
    const changes = random.pick([{ age: 125 }, { age: -125 }, { frontEnd: `other ${frontEnds.app.origin}` }, foreign]);
    return random.oneIn(5)
      ? redemption(issue(content), verifierOf(random))
      : redemption(issue({ ...content, ...changes }), verifier);
  }

  function refresh(content: Parameters<typeof sealRefreshToken>[2]): TokenRequest {
    const times = { loggedInAt: seconds() - 60, endsAt: seconds() + day };
    const usual = { frontEnd: app, ...times, providerToken: renewable(hidden) };
    const token = sealRefreshToken(at, stateKey, { ...usual, ...content });
    return { grant_type: 'refresh_token', client_id: 'app', refresh_token: token };
  }

  // Only a few, so that many front ends refresh the same login.
  function renewable(marker: string): RefreshTokenContent['providerToken'] {
    count += 1;
    return { refreshToken: `${marker}refresh-${count % 5000}` };
  }

  function held(marker: string): RefreshTokenContent['providerToken'] {
    count += 1;
    return { accessToken: `${marker}${count}`, endsAt: seconds() + 60 };
  }

  function goodRefresh(random: Random): TokenRequest {
    const { thumbprint } = key;
    return random.pick([
      () => refresh({ thumbprint }),
      () => refresh({ thumbprint, scope: 'read write' }),
      () => refresh({ thumbprint, providerToken: held(granted) }),
      () => refresh({ providerToken: held(granted) }),
      () => refresh({}),
    ])();
  }

  function hopelessRefresh(random: Random): TokenRequest {
    const tokenOf = random.oneIn(2) ? held : renewable;
    const shop = frontEnds.shop.origin;
    const [marker, changes] = random.pick([
      [forbidden, foreign],
      [forbidden, { frontEnd: `app ${shop}` }],
      [forbidden, { frontEnd: `shop ${shop}` }],
      [locked, { endsAt: seconds() - 1 }],
      [locked, { loggedInAt: seconds() - 31 * day }],
      [locked, { thumbprint: otherKey }],
    ] as const);
    return refresh({ providerToken: tokenOf(marker), ...changes });
  }

  return async (random) => {
    const nonce = nonces.current();
    const [proof, another] = await Promise.all([
      makeProof(key, tokenUrl, seconds(), { claims: { nonce } }),
      makeProof(key, tokenUrl, seconds() - random.below(200), {
        claims: { nonce: random.oneIn(8) ? undefined : nonce },
      }),
    ]);
    const elsewhere = random.oneIn(2)
      ? redemptionOf(random, forbidden)
      : refresh({ providerToken: renewable(forbidden) });
    return {
      login,
      good: [redemptionOf(random, hidden), goodRefresh(random)],
      hopeless: [hopelessRedemption(random), hopelessRefresh(random)],
      foreign: [elsewhere],
      proofs: [proof, another],
      sessions: sessions(random),
    };
  };
}

function verifierOf(random: Random): string {
  return random.bytes(32).toString('base64url');
}
