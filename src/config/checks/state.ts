import { hasStar } from '../../origins/origin-pattern.ts';
import { isLoopback } from '../../urls.ts';
import type { FrontEndReading, Readings, RegistrationReading } from '../readings.ts';
import { describeDelivery } from './several.ts';

/** Which callbacks of a registration must have a state. Reports a choice that its front ends do not permit. */
export function readStateCheck(reading: RegistrationReading, { frontEnds }: Readings) {
  const { name, values, fault } = reading;
  const guardedDelivery = describeDelivery(frontEnds, ['code', 'session', 'cms'], name);
  const { stateCheck = guardedDelivery === undefined ? 'browsers' : 'always' } = values;
  if (guardedDelivery !== undefined && stateCheck !== 'always') {
    fault(
      'stateCheck',
      `must be always with ${guardedDelivery}: otherwise anyone could exchange a leaked code at the callback`,
    );
  }
  return stateCheck;
}

const isOff = ({ values }: RegistrationReading) => values.stateCheck === 'off';

/** Whether no login of a front end has a state, at any of its registrations. */
export const isWithoutState = ({ usable }: FrontEndReading) => usable.every(isOff);

/** Which refresh tokens a front end gets. A CMS proves no key, and pages at a `*` can have different authors. */
export function refreshTokensOf({ values, relay }: FrontEndReading): 'bound' | 'bearer' | 'off' {
  const { origin, tokenDelivery, refreshTokens } = values;
  // A machine asks for the next token as it asked for the first.
  if (values.kind === 'machine') return 'off';
  const kind = refreshTokens ?? relay.values.refreshTokens ?? 'bound';
  if (kind === 'bound' && tokenDelivery === 'cms') return 'off';
  return kind === 'bearer' && tokenDelivery !== 'cms' && origin?.some(hasStar) ? 'bound' : kind;
}

/** Whether some front end gets refresh tokens, if there is a key file. */
function hasRefreshTokens({ frontEnds }: Readings): boolean {
  return frontEnds.some((one) => refreshTokensOf(one) !== 'off' && !isWithoutState(one));
}

/**
 * Warns of settings that only logins with a state use: of a registration if its state check is off, of a front end if
 * that is so at all of its registrations, and of the relay if it is so at every registration.
 */
export function warnWithoutState(readings: Readings): void {
  const { relay, registrations, frontEnds } = readings;
  const off = registrations.filter(isOff);
  const [first] = off;
  if (first === undefined) {
    const why = ': no front end gets refresh tokens';
    if (!hasRefreshTokens(readings)) relay.warnOfUnused(['refreshLifetime'], why);
    return;
  }
  const withOff = ` with ${first.describe('stateCheck')} off`;
  const oauthOff = `${withOff}: OAuth logins need a state`;
  const isEvery = off.length === registrations.length;
  for (const one of frontEnds.filter(isWithoutState)) {
    one.warnOfUnused(['redirectUri', 'refreshTokens'], oauthOff);
  }
  if (isEvery) relay.warnOfUnused(['refreshTokens', 'refreshLifetime'], oauthOff);
  for (const one of off) one.warnOfUnused(['revocationUrl'], oauthOff);
  const isMemoryShared = relay.values.sharedMemory !== undefined;
  if (isEvery && !isMemoryShared) relay.warnOfUnused(['keyFile'], withOff);
  for (const { values, warn } of off) {
    if (values.pkce === true) warn('pkce', `has no effect${withOff}`);
  }
}

/** Warns if front ends get no refresh tokens, since there is no key file. Call it if there is none. */
export function warnOfMissingKey(readings: Readings): void {
  const { relay } = readings;
  if (!hasRefreshTokens(readings) || isLoopback(new URL(relay.baseUrl))) return;
  relay.warn(
    'keyFile',
    'is required for refresh tokens. Without a key file, front ends get none: anyone who knows the client secret could decrypt them',
  );
}
