import { deriveLoginParts } from '../../src/login/pkce.ts';
import { createStates, type States } from '../../src/login/state.ts';
import { deriveKeysFromFile } from '../../src/sealing/keys.ts';
import { Secret } from '../../src/sealing/secret.ts';
import { allPages, audienceOf, baseUrl, frontEnds, type RegistrationName, stateKey } from './front-ends.ts';
import type { Random } from './random.ts';

const returnTo = [
  'https://evil.example/',
  `${frontEnds.wiki.origin}.evil.example/`,
  `${frontEnds.wiki.origin}/pages/1?edit#top`,
  `${frontEnds.desk.origin}/`,
] as const;

const callbackOf = (name: RegistrationName) => `/auth/${name}/callback`;

/** Seals and opens the states of each registration like the relay. */
export function statesOf(providerOrigin: string): Readonly<Record<RegistrationName, States>> {
  const keys = deriveKeysFromFile([new Secret(stateKey)]).state;
  const of = (name: RegistrationName) =>
    createStates(keys, () => audienceOf(name, providerOrigin), baseUrl + callbackOf(name));
  return { provider: of('provider'), house: of('house') };
}

/** Makes logins like the relay: state and cookie of the browser that started it, and the path of the callback. */
export function createLogins(states: Readonly<Record<RegistrationName, States>>) {
  return (random: Random) => {
    const registration = random.oneIn(3) ? 'house' : 'provider';
    const browserSecret = random.bytes(32);
    const { id } = deriveLoginParts(browserSecret);
    const issuedAt = Math.floor(Date.now() / 1000);
    const own = registration === 'house' ? (['wiki', 'desk'] as const) : (['app', 'shop'] as const);
    const frontEnd = random.pick(random.oneIn(8) ? (['other', 'app', 'wiki'] as const) : own);
    const longState = random.oneIn(4) ? random.bytes(300).toString('base64url') : '';
    const state = random.oneIn(2) ? undefined : `${frontEnd} own&state=${random.below(1000)}\u{1f511}${longState}`;
    // A foreign URI may have been registered when the login was started.
    const redirectUri = random.oneIn(8) ? 'https://evil.example/' : random.pick(allPages);
    const codeChallenge = random.bytes(32).toString('base64url');
    const isOAuth = random.oneIn(registration === 'house' ? 16 : 2);
    const oauth = isOAuth ? { redirectUri, codeChallenge } : undefined;
    const request = { state, oauth, returnTo: random.oneIn(3) ? random.pick(returnTo) : undefined };
    const { state: sealed, kept } = states[registration].seal({ id, issuedAt, frontEnd, request });
    const name = id.toString('hex', 0, 8);
    const parts = (kept?.match(/.{1,700}/g) ?? []).map(
      (text, index) => `__Host-Http-lr_login_part_${index}=${name}.${index}.${text}; `,
    );
    return {
      callback: callbackOf(registration),
      state: sealed,
      cookie: `${parts.join('')}__Host-Http-lr_login_${name}=${browserSecret.toString('base64url')}`,
    };
  };
}
