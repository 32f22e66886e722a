import { keysFromFile } from '../../src/keys.ts';
import { createStateSigner } from '../../src/login/state.ts';
import { Secret } from '../../src/secret.ts';
import { allPages } from './front-ends.ts';
import type { Random } from './random.ts';

/** State and cookie of a login in the browser that started it. */
export interface LoginMaterial {
  readonly state: string;
  readonly cookie: string;
}

/** Makes logins like the relay, with the relay's key. */
export function createLogins(settings: {
  readonly stateKey: string;
  readonly clientId: string;
  readonly redirectUri: string;
}): (random: Random) => LoginMaterial {
  const signer = createStateSigner(keysFromFile([new Secret(settings.stateKey)]).state, settings);
  const prefix = settings.redirectUri.startsWith('https:') ? '__Host-Http-lr_login_' : 'lr_login_';
  return (random) => {
    const bytes = (length: number) => Buffer.from(Array.from({ length }, () => random.below(256)));
    const id = bytes(16);
    const browserSecret = bytes(32);
    const issuedAt = Math.floor(Date.now() / 1000);
    const frontEnd = random.oneIn(16) ? 'other' : random.pick(['app', 'app', 'shop'] as const);
    const state = random.oneIn(2)
      ? undefined
      : `${frontEnd} own&state=${random.below(1000)}\u{1f511}`;
    // A foreign URI may have been registered when the login was started.
    const redirectUri = random.oneIn(8) ? 'https://evil.example/' : random.pick(allPages);
    const codeChallenge = bytes(32).toString('base64url');
    const oauth = random.oneIn(2) ? undefined : { redirectUri, codeChallenge };
    const returnTo = random.oneIn(8) ? 'https://evil.example/' : undefined;
    const request = { state, oauth, returnTo };
    const login = { id, issuedAt, registration: 'provider', frontEnd, request };
    return {
      state: signer.sign(login, browserSecret),
      cookie: `${prefix}${id.toString('hex', 0, 8)}=${browserSecret.toString('base64url')}`,
    };
  };
}
