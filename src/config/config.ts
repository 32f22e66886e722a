import { defaultCallbackPath } from '../paths.ts';
import { readCertificate } from './certificate.ts';
import { allowOf, checkAllow, checkOpenClients } from './checks/access.ts';
import { checkEntries } from './checks/across-entries.ts';
import { checkBrowserSettings } from './checks/browsers.ts';
import { checkCallbackPaths } from './checks/callback-path.ts';
import { reportCmses } from './checks/cms.ts';
import { checkExtraFields } from './checks/extra-fields.ts';
import { checkApis, checkFrontEnd, frontEndConfig } from './checks/front-end.ts';
import * as rules from './checks/relay.ts';
import { checkResources, resourceConfig } from './checks/resources.ts';
import { readStateCheck, warnOfMissingKey, warnWithoutState } from './checks/state.ts';
import { readClientSecret } from './client-secret.ts';
import { readEnvironment } from './environment.ts';
import { createPlacedMessages } from './fault.ts';
import { type ReadConfigFile, readConfigFile } from './file/read.ts';
import { createKeyFile, readKeyFile } from './key-file.ts';
import { readPages } from './pages.ts';
import { readProvider } from './provider.ts';
import type { ReadingContext } from './reading.ts';
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

export type ConfigReading = ReturnType<typeof readConfig>;

/**
 * Turns flags, environment variables and the file that they name into a Config. Flags override the environment, which
 * overrides the file; an empty variable counts as unset.
 *
 * @param given.newFiles creates a missing key file. Undefined if a missing file is a fault
 * @param given.unseen collects the secrets that this user cannot read, which get stand-ins. Undefined if they are
 *   faults
 * @throws {ConfigError} with all faults at once. No fault quotes a value that may be secret
 */
export function readConfig(given: Omit<ReadingContext, 'faults' | 'warnings'>) {
  const faults = createPlacedMessages();
  const warnings = createPlacedMessages();
  const file = readConfigFile(given, given.readFile, faults, warnings);
  const readings = createReadings({ ...given, faults, warnings }, file);

  const found = checkReadings(readings, file);
  const proxy = readEnvironment(given, faults.add);
  faults.expectNone();

  const { path, secrets } = found.keyFile;
  const keySecrets = secrets ?? (path === undefined ? undefined : createKeyFile(readings.relay, path));
  if (!keySecrets) warnOfMissingKey(readings);
  // Creating the key file may fail as well. It comes last, because a file that was created stays.
  faults.expectNone();

  return {
    config: { ...assembleConfig(readings, found), keySecrets, proxy },
    warnings: warnings.inOrder(),
    readings,
  };
}

/**
 * Checks all settings, and reads the files that they name. Faults without a place in a file are shown in this order.
 * The lists in the result follow the order of the registrations.
 */
function checkReadings(readings: Readings, file: ReadConfigFile) {
  const { relay, registrations, frontEnds } = readings;
  const clientSecrets = registrations.map((one) => {
    one.require('clientId');
    return readClientSecret(one);
  });
  const certificate = readCertificate(relay);
  rules.checkListening(relay);
  rules.checkClientAddresses(readings);
  frontEnds.forEach(checkFrontEnd);
  checkApis(readings);
  checkOpenClients(readings);
  warnWithoutState(readings);
  const providers = registrations.map(readProvider);
  checkAllow(readings, providers);
  const keyFile = readKeyFile(relay);
  checkResources(readings, providers);
  checkBrowserSettings(readings);
  const stateChecks = registrations.map((one) => readStateCheck(one, readings));
  rules.warnWithoutSessions(readings);
  if (keyFile.path === undefined && keyFile.secrets === undefined) rules.reportMissingKey(readings);
  const memory = readSharedMemory(relay);
  rules.checkMetrics(relay);
  rules.warnOfAmbiguousPath(readings);
  const pages = readPages(readings);
  rules.reportPlainHttp(readings);
  reportCmses(readings);
  checkEntries(readings, file);
  checkCallbackPaths(readings);
  checkExtraFields(readings);
  return { clientSecrets, certificate, providers, keyFile, stateChecks, memory, pages };
}

/**
 * The words in the paths of a registration. Without a file, that is the contract's word, `provider`, and the name of a
 * given preset, so that pages with that path need no change when the operator moves to a file with several providers.
 */
function pathWordsOf(
  { name, values, isGiven }: RegistrationReading,
  all: readonly RegistrationReading[],
): readonly string[] {
  const { provider } = values;
  const isByDefault = name === options.pathName.default && !isGiven('pathName');
  const isTaken = provider === undefined || all.some((one) => one.name === provider);
  return isByDefault && isGiven('provider') && !isTaken ? [name, provider] : [name];
}

/** The paths of a registration. Call it only if there is no fault. */
function pathsConfig(reading: RegistrationReading, all: readonly RegistrationReading[], baseUrl: string) {
  const { callbackPath } = reading.values;
  const [first, ...others] = mapNonEmpty(pathWordsOf(reading, all), (word) => {
    const path = callbackPath ?? defaultCallbackPath(word);
    return { word, callbackPath: path, callbackUri: baseUrl + path };
  });
  return {
    /** The relay's own callback, to be registered at the provider. */
    callbackUri: first.callbackUri,
    /** The path with its name comes first. All paths share a `callback-path`. */
    paths: [first, ...others] as const,
  };
}

/** Assembles the result. Call it only if there is no fault. */
function assembleConfig(
  { relay, registrations, resources, frontEnds }: Readings,
  found: ReturnType<typeof checkReadings>,
) {
  const { baseUrl } = relay;
  const settings = completeValues(relay);
  const { metricsPort: port, metricsHost: host, metricsNames: names = [] } = settings;
  return {
    ...settings,
    keyFile: found.keyFile.path,
    baseUrl,
    /** Undefined: plain http, behind a proxy that terminates TLS. */
    certificate: found.certificate,
    trustedProxies: settings.trustedProxies ?? [],
    behindUnknownProxy: rules.isBehindUnknownProxy(relay),
    metrics: port === undefined ? undefined : { host, port, names },
    /** Undefined: each relay remembers on its own. */
    memory: found.memory,
    registrations: mapNonEmpty(registrations, (reading, index) => ({
      ...pathsConfig(reading, registrations, baseUrl),
      /** The word in its paths: `/auth/<name>`. */
      name: reading.name,
      clientId: completeValues(reading).clientId,
      clientSecret: requireChecked(found.clientSecrets[index]),
      provider: requireChecked(found.providers[index]),
      stateCheck: requireChecked(found.stateChecks[index]),
      /** Undefined: everybody may log in. */
      allow: allowOf(reading),
    })),
    /** Whether requests have to name a registration, because a file describes them. */
    registrationsAreNamed: registrations[0].map.path !== undefined,
    pages: found.pages,
    resources: resources.map(resourceConfig),
    frontEnds: frontEnds.map(frontEndConfig),
  };
}
