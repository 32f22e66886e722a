import type { Secret } from '../secret.ts';
import type { Certificate } from '../server/tls.ts';
import { ConfigError } from '../start-errors.ts';
import { type ApiConfig, readApis, reportApiPaths } from './checks/apis.ts';
import { reportCmses } from './checks/cms.ts';
import {
  type FrontEndAccess,
  type FrontEndSettings,
  readFrontEnd,
  readFrontEndAccess,
} from './checks/front-end.ts';
import {
  baseUrlOf,
  checkClients,
  checkListening,
  checkMetrics,
  reportPlainHttp,
} from './checks/listening.ts';
import {
  checkRefreshTokens,
  checkSessions,
  readStateCheck,
  type StateCheck,
  warnOfMissingKey,
} from './checks/protection.ts';
import { checkSeveral, describeDelivery, reportOutside } from './checks/several.ts';
import { readClientSecret } from './client-secret.ts';
import { type ProxyVariables, readProxy, runtimeFaults } from './environment.ts';
import { type PlacedTexts, placedTexts } from './file/config-file.ts';
import { readConfigFile } from './file/read.ts';
import type { NewFiles, ReadFile } from './files.ts';
import { type KeyFile, readKeyFile } from './key-file.ts';
import type { ProviderSettings } from './provider.ts';
import { readProvider } from './provider.ts';
import {
  checked,
  createReadings,
  mapped,
  type Naming,
  type NonEmpty,
  namingOf,
  onlyFrontEnd,
  type Readings,
  type Unseen,
} from './reading.ts';
import { type CompleteValues, type RelayOption, relayOptions } from './settings/settings.ts';
import type { OptionSources } from './sources.ts';

/** The settings that apply to every registration and front end. */
export interface RelaySettings
  extends Omit<Pick<CompleteValues, RelayOption>, 'baseUrl' | 'keyFile' | 'trustedProxies'>,
    KeyFile {
  /** The relay's public address, without a final slash. */
  readonly baseUrl: string;
  /** Undefined: plain http, behind a proxy that terminates TLS. */
  readonly certificate: Certificate | undefined;
  /** Proxies whose `X-Forwarded-For` is trusted. */
  readonly trustedProxies: readonly string[];
  /** Whether all requests come from a proxy that is not trusted, so that no client is known. */
  readonly behindUnknownProxy: boolean;
  /** The address of the metrics port. Undefined: no metrics. */
  readonly metrics: { readonly host: string; readonly port: number } | undefined;
  readonly proxy: ProxyVariables;
}

/** The relay as a client at one provider. */
export interface RegistrationConfig {
  /** The word in its paths: `/auth/<name>`. */
  readonly name: string;
  readonly clientId: string;
  readonly clientSecret: Secret;
  /** The relay's own callback, to be registered at the provider. */
  readonly redirectUri: string;
  readonly provider: ProviderSettings;
  readonly stateCheck: StateCheck;
}

/** One page or app that logs its users in. */
export interface FrontEndConfig extends FrontEndSettings, FrontEndAccess {
  /** Its `client_id` towards the relay. */
  readonly name: string;
  /** What its pages may use of providers' APIs, with the access token of their session. */
  readonly apis: readonly ApiConfig[];
}

/** The whole configuration, checked and frozen. */
export interface Config extends RelaySettings {
  readonly registrations: NonEmpty<RegistrationConfig>;
  /** Whether a file names the registrations. Otherwise, no request needs to name one. */
  readonly registrationsAreNamed: boolean;
  readonly frontEnds: NonEmpty<FrontEndConfig>;
}

/** A configuration, and warnings about what works but should be fixed. */
export interface ConfigReading {
  readonly config: Config;
  readonly warnings: readonly string[];
  /** What has a stand-in, because this command cannot read it. */
  readonly unseen: readonly Unseen[];
  readonly readings: Readings;
  /** Names the settings of a login at a registration, for a front end. */
  namingOf(registration: string, frontEnd: string): Naming;
}

/**
 * Turns flags, environment variables and the file that they name into a Config. A flag beats the
 * environment, which beats the file; a variable that is set but empty counts as unset.
 *
 * @param given.newFiles creates a missing key file. Undefined: a missing file is a fault
 * @param given.mayBeUnseen whether secrets that this user cannot read get stand-ins. Otherwise, they are faults
 * @throws {ConfigError} with every fault at once; no fault quotes what may be secret
 */
export function readConfig(
  given: OptionSources & {
    readonly readFile: ReadFile;
    readonly newFiles?: NewFiles;
    readonly mayBeUnseen?: boolean;
  },
): ConfigReading {
  const { environment } = given;
  const faults = placedTexts();
  const warnings = placedTexts();
  const unseen: Unseen[] = [];
  const file = readConfigFile(given, given.readFile, faults);
  const shared = { ...given, faults, warnings, unseen: given.mayBeUnseen ? unseen : undefined };
  if (file !== undefined) reportOutside(shared, file);
  const readings = createReadings(shared, file);
  const { relay, providers } = readings;

  const baseUrl = baseUrlOf(relay);
  const registrations = mapped(providers, (reading) => {
    if (reading.sourceOf('clientId') === undefined) reading.fault('clientId', 'is required');
    return {
      name: reading.name ?? reading.values.pathName ?? '',
      reading,
      clientSecret: readClientSecret(reading),
    };
  });
  const names = registrations.map(({ name }) => name);
  const certificate = checkListening(relay, baseUrl);
  const behindUnknownProxy = checkClients(relay, baseUrl);
  const frontEnds = mapped(readings.frontEnds, (one) => ({
    one,
    settings: readFrontEnd(one, baseUrl),
    access: readFrontEndAccess(one, names),
  }));
  const apis = frontEnds.map(({ one, access }) => readApis(one, access));
  reportApiPaths(apis.flat());
  checkRefreshTokens(relay);
  const atProviders = providers.map((reading) => readProvider(reading, baseUrl));
  const keyFile = readKeyFile(relay);
  const stateChecks = registrations.map(({ name, reading }) =>
    readStateCheck(reading, describeDelivery(frontEnds, ['code', 'session', 'cms'], name)),
  );
  const sessionDelivery = describeDelivery(frontEnds, ['session']);
  checkSessions(relay, sessionDelivery, baseUrl, keyFile.isNamed);
  checkMetrics(relay);
  for (const reading of [...providers, ...readings.frontEnds]) reportPlainHttp(reading);
  for (const reading of readings.frontEnds.flatMap((one) => one.apis)) reportPlainHttp(reading);
  reportCmses(registrations, frontEnds);
  checkSeveral(file, registrations, frontEnds);
  const proxy = readProxy(environment, faults.add);
  for (const fault of runtimeFaults(environment)) faults.add(fault);
  expectNone(faults);

  const keys = keyFile.settle();
  if (keys.keySecrets === undefined) warnOfMissingKey(relay, baseUrl);
  const values = relay.values as CompleteValues;
  const { metricsPort, metricsHost } = values;
  const config: Config = {
    ...(Object.fromEntries(relayOptions.map((name) => [name, values[name]])) as Pick<
      CompleteValues,
      RelayOption
    >),
    ...keys,
    baseUrl,
    certificate,
    trustedProxies: values.trustedProxies ?? [],
    behindUnknownProxy,
    metrics: metricsPort === undefined ? undefined : { host: metricsHost, port: metricsPort },
    proxy,
    registrations: mapped(registrations, ({ name, reading, clientSecret }, index) => ({
      name,
      clientId: checked(reading.values.clientId),
      clientSecret: checked(clientSecret),
      redirectUri: `${baseUrl}/auth/${name}/callback`,
      provider: checked(atProviders[index]),
      stateCheck: checked(stateChecks[index]),
    })),
    registrationsAreNamed: file?.providers !== undefined,
    frontEnds: mapped(frontEnds, ({ one, settings, access }, index) => ({
      ...settings(),
      ...access,
      apis: apis[index]?.map(({ api }) => api) ?? [],
      name: one.name ?? onlyFrontEnd,
    })),
  };
  // The key file is created only if everything else is right. That can fail, too.
  expectNone(faults);
  return {
    config: Object.freeze(config),
    warnings: warnings.inOrder(),
    unseen,
    readings,
    namingOf: (registration, frontEnd) => namingOf(readings, registration, frontEnd),
  };
}

/** @throws {ConfigError} */
function expectNone(faults: PlacedTexts): void {
  const found = faults.inOrder();
  if (found.length > 0) throw new ConfigError(found);
}
