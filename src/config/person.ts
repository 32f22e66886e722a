import { openidAccess } from '../providers/identity-servers.ts';
import type { AccessAnswer, AccessAnswers, PersonValues } from '../providers/provider.ts';
import type { ProviderSettings } from './provider.ts';
import type { RegistrationReading } from './readings.ts';

const personSettings = ['userId', 'userName', 'userEmail', 'userEmailVerified'] as const;

/** Adds what the settings of a registration say of its people to what is known of its provider. */
export function withPerson(settings: ProviderSettings, reading: RegistrationReading): ProviderSettings {
  if (personSettings.every((name) => reading.values[name] === undefined)) return settings;
  if ('known' in settings) {
    return { ...settings, known: { ...settings.known, access: accessBy(reading, settings.known.access) } };
  }
  const { discovered } = settings;
  const given = { ...discovered.given, access: accessBy(reading, discovered.given.access) };
  return { discovered: { ...discovered, given } };
}

function accessBy(reading: RegistrationReading, access: AccessAnswers = openidAccess): AccessAnswers {
  return { ...access, users: usersBy(reading, access), emails: emailsBy(reading, access) };
}

/** Where the id and the login name are. With a new id, the preset's login name says nothing. */
function usersBy({ values, describe, fault }: RegistrationReading, access: AccessAnswers): AccessAnswer {
  const { userId, userName } = values;
  const name = userName === undefined ? {} : { name: userName };
  if (userId !== undefined) return { kind: 'values', fields: [userId], ...name };
  const users = access.users ?? openidAccess.users;
  if (userName === undefined) return users;
  if (isInUserRecord(users)) return { ...users, ...name };
  fault('userName', `needs ${describe('userId')}: this provider has the id at another endpoint`);
  return users;
}

/** Where the address is. Another field than the preset's has its own verification, or none. */
function emailsBy({ values, describe, fault }: RegistrationReading, access: AccessAnswers): AccessAnswer {
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
  fault('userEmailVerified', `needs ${describe('userEmail')}: the user record of this provider has no address`);
  return known;
}

const isInUserRecord = (answer: AccessAnswer): answer is PersonValues =>
  answer.kind === 'values' && answer.from === undefined;
