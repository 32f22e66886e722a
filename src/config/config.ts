import { defaultCallbackPath } from '../paths.ts';
import { readProvider, titleOf } from './assemble-provider.ts';
import { readCertificate } from './certificate.ts';
import { allowOf, checkAllow, checkOpenClients } from './checks/access.ts';
import { checkEntries } from './checks/across-entries.ts';
import { checkBrowserSettings } from './checks/browsers.ts';
import { checkCallbackPaths } from './checks/callback-path.ts';
import { checkCmses } from './checks/cms.ts';
import { checkExtraFields } from './checks/extra-fields.ts';
import { checkApis, checkFrontEnd, frontEndConfig } from './checks/front-end.ts';
import {
  checkClientAddresses,
  checkListening,
  checkMetrics,
  isBehindUnknownProxy,
  reportMissingKey,
  reportPlainHttp,
  warnOfAmbiguousPath,
  warnWithoutSessions,
} from './checks/relay.ts';
import { checkResources, resourceConfig } from './checks/resources.ts';
import { readStateCheck, warnOfMissingKey, warnWithoutState } from './checks/state.ts';
import { readClientSecret } from './client-secret.ts';
import { readEnvironment } from './environment.ts';
import { createPlacedMessages } from './fault.ts';
import { type ReadConfigFile, readConfigFile } from './file/read.ts';
import { createKeyFile, readKeyFile } from './key-file.ts';
import type { ReadingContext } from './map-reading.ts';
import { readPages } from './pages.ts';
import {
  completeValues,
  createReadings,
  mapNonEmpty,
  type Readings,
  type RegistrationReading,
  requireChecked,
} from './readings.ts';
import { options } from './settings/settings.ts';
import { readSharedMemory } from './shared-memory.ts';

export type Config = ConfigReading['config'];

export type RegistrationConfig = Config['registrations'][number];

export type FrontEndConfig = Config['frontEnds'][number];

export type ResourceConfig = Config['resources'][number];

export type ConfigReading = ReturnType<typeof readConfig>;

/**
 * Turns flags, environment variables and the file that they name into a Config. Flags override the environment, which
 * overrides the file; an empty variable counts as unset. If there is no fault, it creates a missing key file, unless
 * `given.newFiles` cannot.
 *
 * @param given.unseen collects the secrets that this user cannot read, for which the Config has stand-ins
 * @throws {ConfigError} with all faults at once. No fault quotes a value that may be secret
 */
export function readConfig(given: Omit<ReadingContext, 'faults' | 'warnings'>) {
  const faults = createPlacedMessages();
  const warnings = createPlacedMessages();
  const file = readConfigFile(given, given.readFile, faults, warnings);
  const readings = createReadings({ ...given, faults, warnings }, file);

  const checked = checkReadings(readings, file);
  const proxy = readEnvironment(given, faults.add);
  faults.expectNone();

  const { path, secrets } = checked.keyFile;
  const keySecrets = secrets ?? (path === undefined ? undefined : createKeyFile(readings.relay, path));
  if (!keySecrets) warnOfMissingKey(readings);
  // The key file is created last, because it stays, and its creation may fail as well.
  faults.expectNone();

  return {
    config: { ...assembleConfig(readings, checked), keySecrets, proxy },
    warnings: warnings.inOrder(),
    readings,
  };
}

/**
 * Checks all settings, and reads the files that they name. Faults without a place in a file are shown in this order.
 *
 * @returns what the checks have read. Its lists have an element for each registration, in the same order
 */
function checkReadings(readings: Readings, file: ReadConfigFile) {
  const { relay, registrations, frontEnds } = readings;
  const clientSecrets = registrations.map((registration) => {
    registration.require('clientId');
    return readClientSecret(registration);
  });
  const certificate = readCertificate(readings);
  checkListening(relay);
  checkClientAddresses(readings);
  frontEnds.forEach(checkFrontEnd);
  checkApis(readings);
  checkOpenClients(readings);
  warnWithoutState(readings);
  const providers = registrations.map(readProvider);
  checkAllow(readings, providers);
  const keyFile = readKeyFile(relay);
  checkResources(readings, providers);
  checkBrowserSettings(readings);
  const stateChecks = registrations.map((registration) => readStateCheck(registration, readings));
  warnWithoutSessions(readings);
  if (keyFile.path === undefined && keyFile.secrets === undefined) reportMissingKey(readings);
  const memory = readSharedMemory(relay);
  checkMetrics(relay);
  warnOfAmbiguousPath(readings);
  const pages = readPages(readings);
  reportPlainHttp(readings);
  checkCmses(readings);
  checkEntries(readings, file);
  checkCallbackPaths(readings);
  checkExtraFields(readings);
  return { clientSecrets, certificate, providers, keyFile, stateChecks, memory, pages };
}

/**
 * The words in the paths of a registration: `provider` in `/auth/provider`. With flags, a given preset adds its name,
 * so that pages which use `/auth/github` need no change when the operator moves to a file with several providers.
 */
function pathWordsOf(
  { name, values, isGiven }: RegistrationReading,
  all: readonly RegistrationReading[],
): readonly string[] {
  const { provider } = values;
  const hasDefaultName = name === options.pathName.default && !isGiven('pathName');
  if (!hasDefaultName || !isGiven('provider') || provider === undefined) return [name];
  const isTaken = all.some((other) => other.name === provider);
  return isTaken ? [name] : [name, provider];
}

/** The paths of a registration, for `Config`. Call it only if there is no fault. */
function pathsConfig(reading: RegistrationReading, all: readonly RegistrationReading[], baseUrl: string) {
  const { callbackPath } = reading.values;
  const [first, ...others] = mapNonEmpty(pathWordsOf(reading, all), (word) => {
    const path = callbackPath ?? defaultCallbackPath(word);
    return { word, callbackPath: path, callbackUri: baseUrl + path };
  });
  return {
    /** The relay's own callback, to be registered at the provider. */
    callbackUri: first.callbackUri,
    /**
     * The paths of the registration. The path with its name comes first, and the path of a preset in flags last: `check`
     * takes the last path, because the documentation uses it. All have the same `callback-path`, if it is set.
     */
    paths: [first, ...others] as const,
  };
}

/** Assembles the Config from the settings and what their checks have read. Call it only if there is no fault. */
function assembleConfig(
  { relay, registrations, resources, frontEnds }: Readings,
  checked: ReturnType<typeof checkReadings>,
) {
  const { baseUrl } = relay;
  const providers = new Map(registrations.map(({ name }, index) => [name, requireChecked(checked.providers[index])]));
  const settings = completeValues(relay);
  const { metricsPort: port, metricsHost: host, metricsNames: names = [] } = settings;
  return {
    ...settings,
    keyFile: checked.keyFile.path,
    baseUrl,
    /** The relay's own certificate; undefined if it serves plain http, behind a proxy that terminates TLS. */
    certificate: checked.certificate,
    trustedProxies: settings.trustedProxies ?? [],
    behindUnknownProxy: isBehindUnknownProxy(relay),
    metrics: port === undefined ? undefined : { host, port, names },
    /** The shared memory; undefined if each relay remembers on its own. */
    memory: checked.memory,
    registrations: mapNonEmpty(registrations, (reading, index) => ({
      ...pathsConfig(reading, registrations, baseUrl),
      /** The word in its paths: `/auth/<name>`. */
      name: reading.name,
      /** The name of the provider for people. */
      title: titleOf(reading, registrations),
      clientId: completeValues(reading).clientId,
      clientSecret: requireChecked(checked.clientSecrets[index]),
      provider: requireChecked(checked.providers[index]),
      stateCheck: requireChecked(checked.stateChecks[index]),
      /** Who may log in; undefined if everybody may. */
      allow: allowOf(reading),
    })),
    /** Whether requests have to name a registration, because the registrations come from a file. */
    registrationsAreNamed: registrations[0].map.path !== undefined,
    pages: checked.pages,
    resources: resources.map((reading) => resourceConfig(reading, providers)),
    frontEnds: frontEnds.map(frontEndConfig),
  };
}
