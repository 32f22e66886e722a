import { ConfigError } from '../start-errors.ts';
import { describeFault } from './fault.ts';
import type { KeyFile } from './key-file.ts';
import {
  type OptionSources,
  readOptionValues,
  sourceOf,
  withoutOverruled,
} from './option-values.ts';
import { describeOption } from './options.ts';
import { reportPlainHttp } from './plain-http.ts';
import type { ProviderSettings } from './provider-settings.ts';
import { type ProxyVariables, readProxy } from './proxy.ts';
import { checked, type Reading } from './reading.ts';
import { runtimeFaults } from './runtime-environment.ts';
import type { NewFiles, ReadFile } from './secret-file.ts';
import { type Clients, readClients } from './sections/clients.ts';
import { type FrontEndSettings, readFrontEnd } from './sections/front-end.ts';
import { baseUrlOf, type Listening, readListening } from './sections/listening.ts';
import { type LoginProtectionSettings, readLoginProtection } from './sections/login-protection.ts';
import { type Observability, readObservability } from './sections/observability.ts';
import { readProvider } from './sections/provider.ts';
import { type RefreshTokenSettings, readRefreshTokens } from './sections/refresh-tokens.ts';
import { type RegistrationSettings, readRegistration } from './sections/registration.ts';

/** The settings that apply to every registration and front end. */
export interface RelaySettings
  extends Listening,
    Clients,
    RefreshTokenSettings,
    KeyFile,
    Observability {
  /** Milliseconds that a whole call to a provider may take. */
  readonly providerTimeout: number;
  readonly proxy: ProxyVariables;
}

/** The relay as a client at one provider. */
export interface RegistrationConfig
  extends RegistrationSettings,
    Pick<LoginProtectionSettings, 'stateCheck'> {
  readonly provider: ProviderSettings;
}

/** One page or app that logs its users in. */
export interface FrontEndConfig extends FrontEndSettings {
  /** Its `client_id` towards the relay. */
  readonly name: string;
  /** The names of the registrations that it may use. */
  readonly registrations: readonly string[];
  /** The scope of its logins, which an OAuth request can narrow. Undefined: the registration's. */
  readonly scope: string | undefined;
}

/** The whole configuration, checked and frozen. */
export interface Config extends RelaySettings {
  readonly registrations: NonEmpty<RegistrationConfig>;
  readonly frontEnds: NonEmpty<FrontEndConfig>;
}

/** A list with at least one element. */
type NonEmpty<Element> = readonly [Element, ...Element[]];

/** The name of the front end that flags and variables describe. */
const onlyFrontEnd = 'app';

/** A configuration, and warnings about what works but should be fixed. */
export interface ConfigReading {
  readonly config: Config;
  readonly warnings: readonly string[];
}

/**
 * Turns flags and environment variables into a Config. A flag beats the environment; a variable
 * that is set but empty counts as unset.
 *
 * @param given.newFiles creates a missing key file. Undefined: a missing file is a fault
 * @throws {ConfigError} with every fault at once; no fault quotes what may be secret
 */
export function readConfig(
  given: OptionSources & { readonly readFile: ReadFile; readonly newFiles?: NewFiles },
): ConfigReading {
  const sources = withoutOverruled(given);
  const { environment } = sources;
  const faults: string[] = [];
  const warnings: string[] = [];
  const fault: Reading['fault'] = (name, message) =>
    faults.push(describeFault(name, message, sources));
  const reading: Reading = {
    values: readOptionValues(sources, fault),
    environment,
    readFile: given.readFile,
    newFiles: given.newFiles,
    sourceOf: (name) => sourceOf(name, sources),
    describe: describeOption,
    fault,
    warn: (name, message) => warnings.push(`${describeOption(name)} ${message}`),
  };

  const baseUrl = baseUrlOf(reading);
  const registration = readRegistration(reading, baseUrl);
  const listening = readListening(reading);
  const clients = readClients(reading, baseUrl);
  const frontEnd = readFrontEnd(reading, baseUrl);
  const refreshTokens = readRefreshTokens(reading, baseUrl);
  const provider = readProvider(reading, baseUrl);
  const loginProtection = readLoginProtection(reading);
  const observability = readObservability(reading);
  reportPlainHttp(reading);
  const proxy = readProxy(environment, faults);
  faults.push(...runtimeFaults(environment));
  if (faults.length > 0) throw new ConfigError(faults);

  const { stateCheck, keyFile, keySecrets } = loginProtection();
  const registered = registration();
  const config: Config = {
    ...listening(),
    ...clients(),
    ...refreshTokens(keySecrets !== undefined),
    ...observability(),
    keyFile,
    keySecrets,
    providerTimeout: checked(reading.values.providerTimeout),
    proxy,
    registrations: [{ ...registered, provider: provider(), stateCheck }],
    frontEnds: [
      { ...frontEnd(), name: onlyFrontEnd, registrations: [registered.name], scope: undefined },
    ],
  };
  // The key file is created only if everything else is right. That can fail, too.
  if (faults.length > 0) throw new ConfigError(faults);
  return { config: Object.freeze(config), warnings };
}
