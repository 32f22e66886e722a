import { readCertificate } from './certificate.ts';
import { allowOf, checkAllow, checkOpenClients } from './checks/access.ts';
import { reportCmses } from './checks/cms.ts';
import { checkApis, checkFrontEnd, frontEndConfig } from './checks/front-end.ts';
import * as rules from './checks/relay.ts';
import { checkSeveral, describeDelivery } from './checks/several.ts';
import {
  isWithoutState,
  readStateCheck,
  warnOfMissingKey,
  warnWithoutState,
} from './checks/state.ts';
import { placedTexts } from './fault.ts';
import { readConfigFile } from './file/read.ts';
import { createKeyFile, readKeyFile } from './key-file.ts';
import { readProvider } from './provider.ts';
import type { Shared } from './reading.ts';
import { checked, completeValues, createReadings, mapped, namingOf } from './readings.ts';
import { readClientSecret } from './secrets.ts';
import { readSharedMemory } from './shared-memory.ts';
import { type OptionSources, readEnvironment } from './sources.ts';

/** The whole configuration, checked. */
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
export function readConfig(given: Omit<Shared, 'faults' | 'warnings'> & OptionSources) {
  const { environment } = given;
  const faults = placedTexts();
  const warnings = placedTexts();
  const file = readConfigFile(given, given.readFile, faults);
  const readings = createReadings({ ...given, faults, warnings }, file);
  const { relay, registrations, frontEnds } = readings;

  const baseUrl = rules.baseUrlOf(relay);
  const clientSecrets = registrations.map((reading) => {
    reading.require('clientId');
    return readClientSecret(reading);
  });
  const certificate = readCertificate(relay, baseUrl);
  rules.checkListening(relay);
  const behindUnknownProxy = rules.checkClients(relay, baseUrl);
  for (const reading of frontEnds) {
    checkFrontEnd(reading, relay, baseUrl, !isWithoutState(reading, registrations));
  }
  checkApis(frontEnds);
  checkOpenClients(readings);
  warnWithoutState(readings);
  const providers = registrations.map((reading) => readProvider(reading, relay, baseUrl));
  checkAllow(readings, providers);
  const { path: keyFile, secrets } = readKeyFile(relay);
  const hasKeyFile = keyFile !== undefined;
  const stateChecks = registrations.map((reading) =>
    readStateCheck(reading, describeDelivery(frontEnds, ['code', 'session', 'cms'], reading.name)),
  );
  rules.checkSessions(relay, describeDelivery(frontEnds, ['session']), baseUrl, hasKeyFile);
  const memory = readSharedMemory(relay, hasKeyFile);
  rules.checkMetrics(relay);
  const apis = frontEnds.flatMap((reading) => reading.apis);
  for (const reading of [relay, ...frontEnds, ...registrations, ...apis]) {
    rules.reportPlainHttp(reading, relay);
  }
  reportCmses(readings);
  checkSeveral(file, readings);
  const proxy = readEnvironment(environment, faults.add);
  faults.throwIfAny();

  const keySecrets = hasKeyFile ? (secrets ?? createKeyFile(relay, keyFile)) : undefined;
  if (!keySecrets) warnOfMissingKey(readings, baseUrl);
  const settings = completeValues(relay);
  const { metricsPort: port, metricsHost: host } = settings;
  const config = {
    ...settings,
    keyFile,
    keySecrets,
    /** The relay's public address, without a final slash. */
    baseUrl,
    /** Undefined: plain http, behind a proxy that terminates TLS. */
    certificate,
    /** Proxies whose `X-Forwarded-For` is trusted. */
    trustedProxies: settings.trustedProxies ?? [],
    /** Whether all requests come from a proxy that is not trusted, so that no client is known. */
    behindUnknownProxy,
    /** The address of the metrics port. Undefined: no metrics. */
    metrics: port === undefined ? undefined : { host, port },
    proxy,
    /** How to reach the memory that relays share. Undefined: each one remembers alone. */
    memory,
    registrations: mapped(registrations, (reading, index) => ({
      /** The word in its paths: `/auth/<name>`. */
      name: reading.name,
      clientId: completeValues(reading).clientId,
      clientSecret: checked(clientSecrets[index]),
      /** The relay's own callback, to be registered at the provider. */
      redirectUri: `${baseUrl}/auth/${reading.name}/callback`,
      provider: checked(providers[index]),
      stateCheck: checked(stateChecks[index]),
      /** Who may log in. Undefined: everybody. */
      allow: allowOf(reading.allow, [reading.name]),
    })),
    /** Whether a file names the registrations. Otherwise, no request needs to name one. */
    registrationsAreNamed: file?.inside.providers !== undefined,
    frontEnds: mapped(frontEnds, (reading) => frontEndConfig(reading, relay)),
  };
  // The key file is created only if everything else is right. That can fail, too.
  faults.throwIfAny();
  return {
    config,
    /** What works but should be fixed. */
    warnings: warnings.inOrder(),
    readings,
    /** Names the settings of a login at a registration, for a front end. */
    namingOf: namingOf.bind(undefined, readings),
  };
}
