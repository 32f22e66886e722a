import { isLoopback } from '../../urls.ts';
import type { Reading } from '../reading.ts';

/**
 * Reads which callbacks of a registration must have a state.
 *
 * @param guardedDelivery describes a front end of the registration that needs a state; undefined: none does
 */
export function readStateCheck(
  { values, describe, fault, warn }: Reading,
  guardedDelivery: string | undefined,
) {
  const { stateCheck = guardedDelivery === undefined ? 'browsers' : 'always' } = values;
  if (guardedDelivery !== undefined && stateCheck !== 'always') {
    fault(
      'stateCheck',
      `must be always with ${guardedDelivery}: otherwise anyone could exchange a leaked code at the callback`,
    );
  }
  if (values.stateCheck !== 'off') return stateCheck;
  const message = `has no effect with ${describe('stateCheck')} off`;
  if (values.keyFile !== undefined) warn('keyFile', message);
  if (values.pkce === true) warn('pkce', message);
  return stateCheck;
}

/**
 * Checks what needs the state of a login, or refresh tokens.
 *
 * @param areOff whether no front end gets refresh tokens
 */
export function checkRefreshTokens(
  { values: { stateCheck }, describe, warnOfUnused }: Reading,
  areOff: boolean,
): void {
  const ofOAuth = ['redirectUri', 'refreshTokens', 'refreshLifetime', 'revocationUrl'] as const;
  if (stateCheck === 'off') {
    warnOfUnused(ofOAuth, ` with ${describe('stateCheck')} off: OAuth logins need a state`);
  } else if (areOff) {
    warnOfUnused(['refreshLifetime'], ': no front end gets refresh tokens');
  }
}

/** Warns if front ends would get refresh tokens, but there is no key that the provider does not know. */
export function warnOfMissingKey(
  { values, warn }: Reading,
  areOff: boolean,
  baseUrl: string,
): void {
  if (areOff || values.stateCheck === 'off' || isLoopback(new URL(baseUrl))) return;
  warn(
    'keyFile',
    'is required for refresh tokens. Without a key file, front ends get none: anyone who knows the client secret could decrypt them',
  );
}

/**
 * Checks the settings of sessions.
 *
 * @param needing describes a front end that has sessions; undefined: none has
 * @param hasKeyFile whether the keys come from a file, and not from the client secret
 */
export function checkSessions(
  { fault, warnOfUnused }: Reading,
  needing: string | undefined,
  baseUrl: string,
  hasKeyFile: boolean,
): void {
  if (needing === undefined) {
    warnOfUnused(['sessionLifetime', 'sessionIdle'], ': no front end has sessions');
  } else if (!hasKeyFile && !isLoopback(new URL(baseUrl))) {
    fault(
      'keyFile',
      `is required with ${needing}: otherwise anyone who knows the client secret could decrypt sessions`,
    );
  }
}
