import { type Allow, answerTo, rulesOf } from '../../access/allow.ts';
import type { ProviderSettings } from '../provider.ts';
import type { Reading } from '../reading.ts';
import { type Readings, valuesAt } from '../readings.ts';

/** Endpoints of registrations whose clients nobody registered. */
const endpoints = ['register', 'consent'];

const openToAll =
  'has clients that nobody registered, and everybody at the provider may log in with them: set allow';

/** Who may log in; undefined: everybody. */
export function allowOf(reading: Reading | undefined): Allow | undefined {
  return reading && valuesAt('allow', reading);
}

/**
 * Reports rules that a provider cannot answer.
 *
 * @param providers in the order of the registrations; undefined: it has a fault
 */
export function checkAllow(
  { registrations, frontEnds }: Readings,
  providers: readonly (ProviderSettings | undefined)[],
): void {
  for (const { allow } of [...registrations, ...frontEnds]) {
    if (allow?.sourceOf('groupsClaim') === undefined || allow.sourceOf('groups')) continue;
    allow.fault('groupsClaim', 'has no effect without groups');
  }
  for (const [index, { name, allow }] of registrations.entries()) {
    const users = frontEnds.filter((one) => one.registrations.includes(name));
    for (const reading of [allow, ...users.map((one) => one.allow)]) {
      reportUnanswered(reading, name, providers[index]);
    }
  }
}

function reportUnanswered(
  reading: Reading | undefined,
  registration: string,
  settings: ProviderSettings | undefined,
): void {
  if (reading === undefined || settings === undefined) return;
  const allow = valuesAt('allow', reading);
  const access = 'known' in settings ? settings.known.access : undefined;
  for (const rule of rulesOf(allow)) {
    const answer = answerTo(rule, allow, access);
    if (answer.kind !== 'cannot') continue;
    reading.fault(rule, `cannot be asked at the provider ${registration}: ${answer.why}`);
  }
}

/** Checks which clients need no entry of their own. */
export function checkOpenClients({ registrations: all, frontEnds }: Readings): void {
  const taken: string[] = [];
  for (const frontEnd of frontEnds) {
    const { clients, values, registrations, sourceOf, describe, warn, faultOfEntry } = frontEnd;
    const isNative = values.kind === 'native';
    if (clients === undefined) {
      const isReached = sourceOf('clientKeyFile') ?? sourceOf('redirectUri');
      if (isNative && !isReached) faultOfEntry('needs redirect-uris or clients');
      continue;
    }
    const isForAll = all.some(({ name, allow }) => registrations.includes(name) && !allow);
    if (isForAll && !frontEnd.allow) warn('kind', openToAll);
    if (!isNative) clients.faultOfEntry(`needs ${describe('kind')} native`);
    if (!clients.values.registration && clients.sourceOf('documents') === undefined) {
      clients.faultOfEntry('lets nobody in: give documents, or registration: true');
    }
    if (registrations.some((name) => taken.includes(name))) {
      clients.faultOfEntry('is the second one of a provider: only one front end can have it');
    }
    taken.push(...registrations);
  }
  for (const { name, faultOfEntry } of taken.length > 0 ? frontEnds : []) {
    if (endpoints.includes(name)) faultOfEntry('has the name of an endpoint: choose another name');
  }
}
