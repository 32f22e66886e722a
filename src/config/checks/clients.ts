import type { Readings } from '../readings.ts';

/** Endpoints of registrations whose clients nobody registered. */
const endpoints = ['register', 'consent'];

/** Why a front end should say who may log in. */
const openToAll =
  'has clients that nobody registered, and everybody at the provider may log in with them: set allow';

/** Checks which clients need no entry of their own. */
export function checkOpenClients({ registrations: all, frontEnds }: Readings): void {
  const open = frontEnds.filter(({ clients }) => clients !== undefined);
  for (const [index, frontEnd] of open.entries()) {
    const { clients, values, registrations, describe, warn } = frontEnd;
    const isForAll = all.some(({ name, allow }) => registrations.includes(name) && !allow);
    if (isForAll && !frontEnd.allow) warn('kind', openToAll);
    const { documents, registration } = clients?.values ?? {};
    if (values.kind !== 'native') clients?.faultOfEntry(`needs ${describe('kind')} native`);
    if (!documents && !registration && clients?.sourceOf('documents') === undefined) {
      clients?.faultOfEntry('lets nobody in: give documents, or registration: true');
    }
    const shares = open
      .slice(0, index)
      .some((earlier) => earlier.registrations.some((name) => registrations.includes(name)));
    if (shares) {
      clients?.faultOfEntry('is the second one of a provider: only one front end can have it');
    }
  }
  for (const { clients, values, sourceOf, faultOfEntry } of frontEnds) {
    const isOpen = clients !== undefined || sourceOf('clientKeyFile') !== undefined;
    if (values.kind !== 'native' || isOpen || sourceOf('redirectUri') !== undefined) continue;
    faultOfEntry('needs redirect-uris or clients');
  }
  if (open.length === 0) return;
  for (const { name, faultOfEntry } of frontEnds) {
    if (endpoints.includes(name)) faultOfEntry('has the name of an endpoint: choose another name');
  }
}
