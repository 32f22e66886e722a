import { openidAccess } from '../providers/identity-servers.ts';
import type { AccessAnswer, AccessAnswers, ValueSource } from '../providers/provider.ts';
import type { ProviderSettings } from './provider-settings.ts';
import type { RegistrationReading } from './readings.ts';

const personSettings = ['userFrom', 'userId', 'userName', 'userEmail', 'userEmailVerified'] as const;

/** Adds the settings that say where a provider describes a person (`user-from`, `user-id` …) to the provider. */
export function addPersonSettings(settings: ProviderSettings, reading: RegistrationReading): ProviderSettings {
  if (personSettings.every((name) => reading.values[name] === undefined)) return settings;
  reportUnusableIdToken(settings, reading);
  if ('known' in settings) {
    return { ...settings, known: { ...settings.known, access: readAccess(reading, settings.known.access) } };
  }
  const { discovered } = settings;
  const given = { ...discovered.given, access: readAccess(reading, discovered.given.access) };
  return { discovered: { ...discovered, given } };
}

/** Reports settings with which a provider gives no ID token, or the relay cannot verify it. */
function reportUnusableIdToken(
  settings: ProviderSettings,
  { values, describe, reportFault }: RegistrationReading,
): void {
  if (values.userFrom !== 'id-token') return;
  const { issuer, scope } =
    'known' in settings ? settings.known : { ...settings.discovered.given, ...settings.discovered };
  if (issuer === undefined) {
    reportFault('userFrom', `is id-token, which needs ${describe('issuer')}: ID tokens name it in iss`);
  }
  // Without a configured scope, a provider that speaks OpenID Connect is asked for `openid`.
  const requestsOpenid = scope === undefined ? 'discovered' in settings : scope.split(' ').includes('openid');
  if (!requestsOpenid) reportFault('userFrom', `is id-token, which needs openid in ${describe('scope')}`);
  if (values.stateCheck === 'off') {
    reportFault(
      'userFrom',
      `is id-token, which needs ${describe('stateCheck')}: without it, no login has a nonce to compare`,
    );
  }
}

/**
 * Reads the way in which the provider answers each access rule. Settings replace the answers of the preset. The groups
 * of `openidAccess` must stay the same object, because `isScopeUncertain` in check/access.ts compares with it.
 */
function readAccess(reading: RegistrationReading, presetAccess: AccessAnswers = openidAccess): AccessAnswers {
  const access = reading.values.userFrom === 'id-token' ? answersInIdToken(presetAccess) : presetAccess;
  return { ...access, users: readUsers(reading, access), emails: readEmails(reading, access) };
}

const elsewhere = 'it is at another endpoint, and user-from: id-token asks none';

/** The answers that an ID token can give: those that would otherwise be in the user record. */
function answersInIdToken(access: AccessAnswers): AccessAnswers {
  const answers = Object.entries(access).map(([rule, answer]) => {
    if (answer.kind === 'cannot' || isInUserRecord(answer)) return [rule, answer];
    // An ID token may have the groups in a claim that `groups-claim` names.
    if (rule === 'groups') return [rule, { kind: 'values', fields: [] }];
    return [rule, { kind: 'cannot', why: elsewhere }];
  });
  return Object.fromEntries(answers);
}

/** Reads where the id and the login name are. A configured `user-id` drops the preset's field for the login name. */
function readUsers({ values, describe, reportFault }: RegistrationReading, access: AccessAnswers): AccessAnswer {
  const { userId, userName } = values;
  // At many servers, such as those made with Django, `Ada` may register beside `ada`.
  const name = userName === undefined ? {} : ({ name: userName, isNameExact: true } as const);
  if (userId !== undefined) return { kind: 'values', fields: [userId], ...name };
  const users = access.users ?? openidAccess.users;
  if (users.kind === 'cannot') reportFault('userFrom', `needs ${describe('userId')}: the id ${users.why}`);
  if (userName === undefined || users.kind === 'cannot') return users;
  if (isInUserRecord(users)) return { ...users, ...name };
  reportFault('userName', `needs ${describe('userId')}: this provider has the id at another endpoint`);
  return users;
}

/** Reads where the e-mail address is, and what says that it is verified. The preset says that only of its own field. */
function readEmails({ values, describe, reportFault }: RegistrationReading, access: AccessAnswers): AccessAnswer {
  const { userEmail, userEmailVerified } = values;
  const known = access.emails ?? openidAccess.emails;
  if (userEmail === undefined && userEmailVerified === undefined) return known;
  if (userEmailVerified === undefined) {
    return { kind: 'cannot', why: `no address counts as verified: set ${describe('userEmailVerified')}` };
  }
  const verified = userEmailVerified === 'always' ? {} : { verified: userEmailVerified };
  if (userEmail !== undefined) return { kind: 'values', fields: [userEmail], ...verified };
  if (isInUserRecord(known)) {
    const { verified: _, ...rest } = known;
    return { ...rest, ...verified };
  }
  reportFault('userEmailVerified', `needs ${describe('userEmail')}: the user record of this provider has no address`);
  return known;
}

/** Whether the user record itself answers, so that no other endpoint has to be asked. */
const isInUserRecord = (answer: AccessAnswer): answer is ValueSource =>
  answer.kind === 'values' && answer.from === undefined;
