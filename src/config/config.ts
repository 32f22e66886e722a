import { ConfigError } from '../start-errors.ts';
import {
  deliveryAt,
  describeDelivery,
  reportSessionEndpoints,
  reportUnused,
  warnOfSecrets,
  warnOfSharedScopes,
  warnOfTokensBesideSessions,
} from './across-entries.ts';
import { type ApiConfig, readApis, reportApiPaths } from './api-proxy.ts';
import { reportCmses } from './cms.ts';
import { type PlacedTexts, placedTexts } from './file/placed-texts.ts';
import { readConfigFile } from './file/read.ts';
import { readFrontEndAccess } from './front-end-access.ts';
import { type KeyFile, readKeyFile } from './key-file.ts';
import { namingOf } from './naming.ts';
import { mapped, type NonEmpty } from './non-empty.ts';
import { type OptionSources, withoutOverruled } from './option-values.ts';
import { reportPlainHttp } from './plain-http.ts';
import type { ProviderSettings } from './provider-settings.ts';
import { type ProxyVariables, readProxy } from './proxy.ts';
import { checked, type Naming, type Unseen } from './reading.ts';
import { createReadings } from './readings.ts';
import { runtimeFaults } from './runtime-environment.ts';
import type { NewFiles, ReadFile } from './secret-file.ts';
import { type Clients, readClients } from './sections/clients.ts';
import { type FrontEndSettings, readFrontEnd } from './sections/front-end.ts';
import { baseUrlOf, type Listening, readListening } from './sections/listening.ts';
import { readStateCheck, type StateCheck } from './sections/login-protection.ts';
import { type Observability, readObservability } from './sections/observability.ts';
import { readProvider } from './sections/provider.ts';
import { type RefreshTokenSettings, readRefreshTokens } from './sections/refresh-tokens.ts';
import { type RegistrationSettings, readRegistration } from './sections/registration.ts';
import { readSessions, type SessionSettings } from './sections/sessions.ts';

/** The settings that apply to every registration and front end. */
export interface RelaySettings
  extends Listening,
    Clients,
    RefreshTokenSettings,
    SessionSettings,
    KeyFile,
    Observability {
  /** Milliseconds that a whole call to a provider may take. */
  readonly providerTimeout: number;
  readonly proxy: ProxyVariables;
}

/** The relay as a client at one provider. */
export interface RegistrationConfig extends RegistrationSettings {
  readonly provider: ProviderSettings;
  readonly stateCheck: StateCheck;
}

/** One page or app that logs its users in. */
export interface FrontEndConfig extends FrontEndSettings {
  /** Its `client_id` towards the relay. */
  readonly name: string;
  /** The names of the registrations that it may use. */
  readonly registrations: readonly string[];
  /** The scope of its logins, which an OAuth request can narrow. Undefined: the registration's. */
  readonly scope: string | undefined;
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

/** The name of the front end that flags and variables describe. */
const onlyFrontEnd = 'app';

/** A configuration, and warnings about what works but should be fixed. */
export interface ConfigReading {
  readonly config: Config;
  readonly warnings: readonly string[];
  /** What has a stand-in, because this command cannot read it. */
  readonly unseen: readonly Unseen[];
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
  const sources = withoutOverruled(given);
  const { environment } = sources;
  // Settings of the relay as a whole are read again with each registration and front end.
  const faults = placedTexts();
  const warnings = placedTexts();
  const unseen: Unseen[] = [];
  const addUnseen = given.mayBeUnseen ? (one: Unseen) => void unseen.push(one) : undefined;
  const file = readConfigFile(sources, given.readFile, faults);
  const readings = createReadings({ ...sources, faults, warnings, addUnseen }, file);
  const { relay, providers } = readings;

  const baseUrl = baseUrlOf(relay);
  const registrations = mapped(providers, (one) => ({
    name: one.entry?.name ?? one.reading.values.pathName ?? '',
    one,
    reading: one.reading,
    settings: readRegistration(one.reading, baseUrl, one.entry?.name),
  }));
  const names = registrations.map(({ name }) => name);
  const listening = readListening(relay);
  const clients = readClients(relay, baseUrl);
  const frontEnds = mapped(readings.frontEnds, (one) => ({
    one,
    settings: readFrontEnd(one.reading, baseUrl),
    access: readFrontEndAccess(one, names),
  }));
  const apis = frontEnds.map(({ one, access }) => ({ one, apis: readApis(one, access) }));
  reportApiPaths(apis);
  const refreshTokens = readRefreshTokens(relay, baseUrl);
  const atProviders = providers.map(({ reading }) => readProvider(reading, baseUrl));
  const keyFile = readKeyFile(relay);
  const stateChecks = registrations.map(({ name, reading }) =>
    readStateCheck(reading, deliveryAt(name, frontEnds, ['code', 'session', 'cms'])),
  );
  const sessionDelivery = describeDelivery(frontEnds, ['session']);
  const sessions = readSessions(relay, sessionDelivery, baseUrl, keyFile.isNamed);
  if (sessionDelivery !== undefined) {
    reportSessionEndpoints(file, registrations, sessionDelivery, faults);
  }
  const observability = readObservability(relay);
  for (const { reading } of [...providers, ...readings.frontEnds]) reportPlainHttp(reading);
  reportCmses(registrations, frontEnds);
  if (file !== undefined) {
    reportUnused(file, frontEnds, faults);
    warnOfSharedScopes(registrations, frontEnds);
    warnOfSecrets(file, providers);
    warnOfTokensBesideSessions(frontEnds);
  }
  const proxy = readProxy(environment, faults.add);
  for (const fault of runtimeFaults(environment)) faults.add(fault);
  expectNone(faults);

  const keys = keyFile.settle();
  const config: Config = {
    ...listening(),
    ...clients(),
    ...refreshTokens(keys.keySecrets !== undefined),
    ...sessions(),
    ...observability(),
    ...keys,
    providerTimeout: checked(relay.values.providerTimeout),
    proxy,
    registrations: mapped(registrations, ({ settings }, index) => ({
      ...settings(),
      provider: checked(atProviders[index])(),
      stateCheck: checked(stateChecks[index]),
    })),
    registrationsAreNamed: file?.providers !== undefined,
    frontEnds: mapped(frontEnds, ({ one, settings, access }, index) => ({
      ...settings(),
      ...access,
      apis: apis[index]?.apis ?? [],
      name: one.entry?.name ?? onlyFrontEnd,
    })),
  };
  // The key file is created only if everything else is right. That can fail, too.
  expectNone(faults);
  return {
    config: Object.freeze(config),
    warnings: warnings.inOrder(),
    unseen,
    namingOf: (registration, frontEnd) => namingOf(readings, registration, frontEnd),
  };
}

/** @throws {ConfigError} */
function expectNone(faults: PlacedTexts): void {
  const found = faults.inOrder();
  if (found.length > 0) throw new ConfigError(found);
}
