import { defaultCallbackPath } from '../paths.ts';
import { readCertificate } from './certificate.ts';
import { allowOf, checkAllow, checkOpenClients } from './checks/access.ts';
import { checkCallbackPaths } from './checks/callback-path.ts';
import { reportCmses } from './checks/cms.ts';
import { checkExtraFields } from './checks/extra-fields.ts';
import { checkApis, checkFrontEnd, frontEndConfig } from './checks/front-end.ts';
import * as rules from './checks/relay.ts';
import { checkResources, resourceConfig } from './checks/resources.ts';
import { checkSeveral } from './checks/several.ts';
import { readStateCheck, warnOfMissingKey, warnWithoutState } from './checks/state.ts';
import { createPlacedTexts } from './fault.ts';
import { type ReadConfigFile, readConfigFile } from './file/read.ts';
import { createKeyFile, readKeyFile } from './key-file.ts';
import { readPages } from './pages.ts';
import { readProvider } from './provider.ts';
import type { Shared } from './reading.ts';
import {
  completeValues,
  createReadings,
  mapped,
  type Readings,
  type RegistrationReading,
  requireChecked,
} from './readings.ts';
import { readClientSecret } from './secrets.ts';
import { options } from './settings/settings.ts';
import { readSharedMemory } from './shared-memory.ts';
import { readEnvironment } from './sources.ts';

/** The whole configuration, requireChecked. */
export type Config = ConfigReading['config'];

/** The relay as a client at one provider. */
export type RegistrationConfig = Config['registrations'][number];

/** One page or app that logs its users in. */
export type FrontEndConfig = Config['frontEnds'][number];

/** A configuration, and what should be known of it. */
export type ConfigReading = ReturnType<typeof readConfig>;

/**
 * Turns flags, environment variables and the file that they name into a Config. A flag beats the
 * environment, which beats the file; a variable that is set but empty counts as unset.
 *
 * @param given.newFiles creates a missing key file. Undefined: a missing file is a fault
 * @param given.unseen gets the secrets that this user cannot read, which have stand-ins. Undefined: they are faults
 * @throws {ConfigError} with every fault at once; no fault quotes what may be secret
 */
export function readConfig(given: Omit<Shared, 'faults' | 'warnings'>) {
  const faults = createPlacedTexts();
  const warnings = createPlacedTexts();
  const file = readConfigFile(given, given.readFile, faults, warnings);
  const readings = createReadings({ ...given, faults, warnings }, file);

  const found = check(readings, file);
  const proxy = readEnvironment(given, faults.add);
  faults.expectNone();

  const { path, secrets } = found.keyFile;
  const keySecrets = secrets ?? (path === undefined ? undefined : createKeyFile(readings.relay, path));
  if (!keySecrets) warnOfMissingKey(readings);
  // The key file is created only if everything else is right. That can fail, too.
  faults.expectNone();

  return {
    config: { ...assembleConfig(readings, found), keySecrets, proxy },
    /** What works but should be fixed. */
    warnings: warnings.inOrder(),
    readings,
  };
}

/**
 * Checks all settings, and reads what they name. Faults that have no place in a file are shown in this order. The lists
 * of the result are in the order of the registrations.
 */
function check(readings: Readings, file: ReadConfigFile) {
  const { relay, registrations, frontEnds } = readings;
  const clientSecrets = registrations.map((one) => {
    one.require('clientId');
    return readClientSecret(one);
  });
  const certificate = readCertificate(relay);
  rules.checkListening(relay);
  rules.checkClients(readings);
  frontEnds.forEach(checkFrontEnd);
  checkApis(readings);
  checkOpenClients(readings);
  warnWithoutState(readings);
  const providers = registrations.map(readProvider);
  checkAllow(readings, providers);
  const keyFile = readKeyFile(relay);
  checkResources(readings, providers);
  const stateChecks = registrations.map((one) => readStateCheck(one, readings));
  rules.warnWithoutSessions(readings);
  if (keyFile.path === undefined && keyFile.secrets === undefined) rules.reportMissingKey(readings);
  const memory = readSharedMemory(relay);
  rules.checkMetrics(relay);
  rules.warnOfAmbiguousPath(readings);
  const pages = readPages(readings);
  rules.reportPlainHttp(readings);
  reportCmses(readings);
  checkSeveral(readings, file);
  checkCallbackPaths(readings);
  checkExtraFields(readings);
  return { clientSecrets, certificate, providers, keyFile, stateChecks, memory, pages };
}

/**
 * The words of the paths of a registration. Without a file, that is the contract's word, `provider`. A preset that is
 * named adds its own: pages that use it need no change when a file with several providers comes.
 */
function pathsOf(
  { name, values, sourceOf }: RegistrationReading,
  all: readonly RegistrationReading[],
): readonly string[] {
  const { provider } = values;
  const isByDefault = name === options.pathName.default && sourceOf('pathName') === undefined;
  const isTaken = provider === undefined || all.some((one) => one.name === provider);
  return isByDefault && sourceOf('provider') && !isTaken ? [name, provider] : [name];
}

/** The paths of a registration. Call it only if no fault was reported. */
function pathsConfig(reading: RegistrationReading, all: readonly RegistrationReading[], baseUrl: string) {
  const { callbackPath } = reading.values;
  const [first, ...others] = mapped(pathsOf(reading, all), (word) => {
    const path = callbackPath ?? defaultCallbackPath(word);
    return { word, callbackPath: path, callbackUri: baseUrl + path };
  });
  return {
    /** The relay's own callback, to be registered at the provider. */
    callbackUri: first.callbackUri,
    /** Where its routes are: at its name first. Its `callback-path` is that of them all. */
    paths: [first, ...others] as const,
  };
}

/** What the relay is made of. Call it only if no fault was reported. */
function assembleConfig({ relay, registrations, resources, frontEnds }: Readings, found: ReturnType<typeof check>) {
  const { baseUrl } = relay;
  const settings = completeValues(relay);
  const { metricsPort: port, metricsHost: host, metricsNames: names = [] } = settings;
  return {
    ...settings,
    keyFile: found.keyFile.path,
    /** The relay's public address, without a final slash. */
    baseUrl,
    /** Undefined: plain http, behind a proxy that terminates TLS. */
    certificate: found.certificate,
    /** Proxies whose `X-Forwarded-For` is trusted. */
    trustedProxies: settings.trustedProxies ?? [],
    behindUnknownProxy: rules.isBehindUnknownProxy(relay),
    metrics: port === undefined ? undefined : { host, port, names },
    /** How to reach the memory that relays share. Undefined: each one remembers alone. */
    memory: found.memory,
    registrations: mapped(registrations, (reading, index) => ({
      ...pathsConfig(reading, registrations, baseUrl),
      /** The word in its paths: `/auth/<name>`. */
      name: reading.name,
      clientId: completeValues(reading).clientId,
      clientSecret: requireChecked(found.clientSecrets[index]),
      provider: requireChecked(found.providers[index]),
      stateCheck: requireChecked(found.stateChecks[index]),
      /** Who may log in. Undefined: everybody. */
      allow: allowOf(reading),
    })),
    /** Whether a file names the registrations. Otherwise, no request needs to name one. */
    registrationsAreNamed: registrations[0].map.path !== undefined,
    pages: found.pages,
    resources: resources.map(resourceConfig),
    frontEnds: mapped(frontEnds, frontEndConfig),
  };
}
