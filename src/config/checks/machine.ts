import type { FrontEndReading, ResourceReading } from '../readings.ts';

/** The settings for logins of people. */
const settingsForPeople = [
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

/** Checks an entry with `kind: machine`, which may only have its credentials and resources. */
export function checkMachine(reading: FrontEndReading): void {
  const { allow, clients, apis, forbid, describe, reportFault, isGiven } = reading;
  const why = `with ${describe('kind')} machine`;
  forbid(settingsForPeople, `must not be set ${why}`);
  allow?.reportEntryFault(`must not be set ${why}: the entry of the machine is its permission`);
  clients?.reportEntryFault(`must not be set ${why}`);
  for (const api of apis) api.reportEntryFault(`must not be set ${why}`);
  if (!isGiven('resources')) reportFault('resources', `is required ${why}`);
}

/** Reports credentials of a machine in an entry of another kind. */
export function forbidCredentials({ forbid }: FrontEndReading): void {
  forbid(['secretFile', 'publicKeyFile'], 'needs kind: machine');
}

/** Reports resources of machines that need the provider's token, because no person has logged in to get one. */
export function checkMachineResources(frontEnds: readonly FrontEndReading[], resources: readonly ResourceReading[]) {
  const machines = frontEnds.filter(({ values }) => values.kind === 'machine');
  const needingToken = resources.filter(({ values }) => values.token === 'provider');
  for (const { values, reportFault } of machines) {
    for (const { name } of needingToken) {
      if (!values.resources?.includes(name)) continue;
      reportFault('resources', `has ${name}, whose server gets the provider's token: a machine has none`);
    }
  }
}
