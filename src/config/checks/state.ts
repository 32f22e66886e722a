import { hasStar } from '../../origins/origin-pattern.ts';
import { isLoopback } from '../../urls.ts';
import type { FrontEndReading, Readings, RegistrationReading } from '../readings.ts';
import { describeDelivery } from './describe-delivery.ts';

/** Reads which callbacks of a registration must have a state. Reports a choice that its logins do not permit. */
export function readStateCheck(reading: RegistrationReading, { resources, frontEnds }: Readings) {
  const { name, values, reportFault } = reading;
  const openToBrowsers = resources.find(
    (resource) => resource.browser !== undefined && resource.registrations.includes(name),
  );
  const whatNeedsState =
    describeDelivery(frontEnds, ['code', 'session', 'cms'], name) ??
    (openToBrowsers && `resources.${openToBrowsers.name}.browser`);
  const { stateCheck = whatNeedsState === undefined ? 'browsers' : 'always' } = values;
  if (whatNeedsState !== undefined && stateCheck !== 'always') {
    reportFault(
      'stateCheck',
      `must be always with ${whatNeedsState}: otherwise anyone could exchange a leaked code at the callback`,
    );
  }
  return stateCheck;
}

const isStateCheckOff = ({ values }: RegistrationReading) => values.stateCheck === 'off';

/** Whether no login of a front end has a state, so that it can have no OAuth logins. */
export const isWithoutState = ({ usableRegistrations }: FrontEndReading) => usableRegistrations.every(isStateCheckOff);

/** The kind of refresh tokens that a front end gets. Its setting counts unless it could not use the kind safely. */
export function refreshTokensOf({ values, relay }: FrontEndReading): 'bound' | 'bearer' | 'off' {
  const { origin, tokenDelivery, refreshTokens } = values;
  // A machine requests the next token in the same way as the first.
  if (values.kind === 'machine') return 'off';
  const kind = refreshTokens ?? relay.values.refreshTokens ?? 'bound';
  // A CMS cannot prove a key.
  if (tokenDelivery === 'cms') return kind === 'bound' ? 'off' : kind;
  // Another author can publish a page at an origin with a `*`, and would get the tokens of its users.
  return kind === 'bearer' && origin?.some(hasStar) ? 'bound' : kind;
}

/** Whether any front end gets refresh tokens. A front end without a state in its logins gets none, whatever its setting. */
function areRefreshTokensIssued({ frontEnds }: Readings): boolean {
  return frontEnds.some((frontEnd) => refreshTokensOf(frontEnd) !== 'off' && !isWithoutState(frontEnd));
}

/**
 * Warns about settings that have no effect, because the state check is off at the registration, at all registrations of
 * the front end, or at every registration.
 */
export function warnWithoutState(readings: Readings): void {
  const { relay, registrations, frontEnds } = readings;
  const withoutState = registrations.filter(isStateCheckOff);
  const [first] = withoutState;
  if (first === undefined) {
    const why = ': no front end gets refresh tokens';
    if (!areRefreshTokensIssued(readings)) relay.warnOfUnused(['refreshLifetime'], why);
    return;
  }
  const stateIsOff = ` with ${first.describe('stateCheck')} off`;
  const oauthIsOff = `${stateIsOff}: OAuth logins need a state`;
  const isOffEverywhere = withoutState.length === registrations.length;
  for (const frontEnd of frontEnds.filter(isWithoutState)) {
    frontEnd.warnOfUnused(['redirectUri', 'refreshTokens'], oauthIsOff);
  }
  if (isOffEverywhere) relay.warnOfUnused(['refreshTokens', 'refreshLifetime'], oauthIsOff);
  for (const { warnOfUnused } of withoutState) warnOfUnused(['revocationUrl'], oauthIsOff);
  const isMemoryShared = relay.values.sharedMemory !== undefined;
  if (isOffEverywhere && !isMemoryShared) relay.warnOfUnused(['keyFile'], stateIsOff);
  for (const { values, warn } of withoutState) {
    if (values.pkce === true) warn('pkce', `has no effect${stateIsOff}`);
  }
}

/** Warns that front ends get no refresh tokens, because they need a key file. Call it if there is no key file. */
export function warnOfMissingKey(readings: Readings): void {
  const { relay } = readings;
  if (!areRefreshTokensIssued(readings) || isLoopback(new URL(relay.baseUrl))) return;
  relay.warn(
    'keyFile',
    'is required for refresh tokens. Without a key file, front ends get none: anyone who knows the client secret could decrypt them',
  );
}
