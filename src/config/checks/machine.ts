import type { FrontEndReading, ResourceReading } from '../readings.ts';

const ofPeople = [
  'origin',
  'frontendUrl',
  'redirectUri',
  'origins',
  'tokenDelivery',
  'errorDelivery',
  'refreshTokens',
  'clientKeyFile',
  'providers',
  'scope',
] as const;

export function checkMachine({ forbid, describe, reportFault, isGiven, ...reading }: FrontEndReading): void {
  const why = `with ${describe('kind')} machine`;
  forbid(ofPeople, `must not be set ${why}`);
  reading.allow?.reportEntryFault(`must not be set ${why}: the entry of the machine is its permission`);
  reading.clients?.reportEntryFault(`must not be set ${why}`);
  for (const api of reading.apis) api.reportEntryFault(`must not be set ${why}`);
  if (!isGiven('resources')) reportFault('resources', `is required ${why}`);
}

export function forbidCredentials({ forbid }: FrontEndReading): void {
  forbid(['secretFile', 'publicKeyFile'], 'needs kind: machine');
}

/** Reports resources of machines that need the provider's token, because no person has logged in to get one. */
export function checkMachineResources(frontEnds: readonly FrontEndReading[], resources: readonly ResourceReading[]) {
  for (const { values, reportFault } of frontEnds.filter((one) => one.values.kind === 'machine')) {
    for (const { name } of resources.filter((one) => one.values.token === 'provider')) {
      if (!values.resources?.includes(name)) continue;
      reportFault('resources', `has ${name}, whose server gets the provider's token: a machine has none`);
    }
  }
}
