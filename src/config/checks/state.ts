import { hasStar } from '../../origins/origin-pattern.ts';
import { isLoopback } from '../../urls.ts';
import type { FrontEndReading, Readings, RegistrationReading } from '../readings.ts';
import { describeDelivery } from './describe-delivery.ts';

/** Which callbacks of a registration must have a state. Reports a choice that its front ends do not permit. */
export function readStateCheck(reading: RegistrationReading, { resources, frontEnds }: Readings) {
  const { name, values, reportFault } = reading;
  const ofBrowsers = resources.find(({ browser, registration }) => browser !== undefined && registration === name);
  const guardedDelivery =
    describeDelivery(frontEnds, ['code', 'session', 'cms'], name) ??
    (ofBrowsers && `resources.${ofBrowsers.name}.browser`);
  const { stateCheck = guardedDelivery === undefined ? 'browsers' : 'always' } = values;
  if (guardedDelivery !== undefined && stateCheck !== 'always') {
    reportFault(
      'stateCheck',
      `must be always with ${guardedDelivery}: otherwise anyone could exchange a leaked code at the callback`,
    );
  }
  return stateCheck;
}

const isOff = ({ values }: RegistrationReading) => values.stateCheck === 'off';

export const isWithoutState = ({ usableRegistrations }: FrontEndReading) => usableRegistrations.every(isOff);

/** Which refresh tokens a front end gets. A CMS cannot prove a key, and pages at a `*` may have different authors. */
export function refreshTokensOf({ values, relay }: FrontEndReading): 'bound' | 'bearer' | 'off' {
  const { origin, tokenDelivery, refreshTokens } = values;
  // A machine requests the next token in the same way as the first.
  if (values.kind === 'machine') return 'off';
  const kind = refreshTokens ?? relay.values.refreshTokens ?? 'bound';
  if (kind === 'bound' && tokenDelivery === 'cms') return 'off';
  return kind === 'bearer' && tokenDelivery !== 'cms' && origin?.some(hasStar) ? 'bound' : kind;
}

function hasRefreshTokens({ frontEnds }: Readings): boolean {
  return frontEnds.some((one) => refreshTokensOf(one) !== 'off' && !isWithoutState(one));
}

/**
 * Warns about settings that have no effect, because the state check is off at the registration, at all registrations of
 * the front end, or at every registration.
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

/** Warns if front ends get no refresh tokens for lack of a key file. Call it if there is none. */
export function warnOfMissingKey(readings: Readings): void {
  const { relay } = readings;
  if (!hasRefreshTokens(readings) || isLoopback(new URL(relay.baseUrl))) return;
  relay.warn(
    'keyFile',
    'is required for refresh tokens. Without a key file, front ends get none: anyone who knows the client secret could decrypt them',
  );
}
