import type { Secret } from '../secret.ts';
import type { Certificate } from '../server/certificate.ts';
import { ConfigError } from '../start-errors.ts';
import { readCertificate } from './certificate.ts';
import { readClientSecret } from './client-secret.ts';
import { isBehindUnknownProxy, reportContradictions, warnOfDoubts } from './contradictions.ts';
import { describeFault } from './fault.ts';
import {
  type OptionSources,
  type Report,
  readOptionValues,
  sourceOf,
  withoutOverruled,
} from './option-values.ts';
import { describeOption, type OptionValues } from './options.ts';
import { type ProviderSettings, readProviderSettings } from './provider-settings.ts';
import { runtimeFaults } from './runtime-environment.ts';
import type { ReadFile } from './secret-file.ts';
import { readStateKeys, stateKeyPath } from './state-key-file.ts';

/** Everything the relay has to know, checked and frozen. */
export interface Config {
  readonly port: number;
  readonly host: string;
  readonly maxConnections: number;
  /** Callbacks and user lookups of one client in a minute. Undefined: any number. */
  readonly rateLimit: number | undefined;
  /** Exchanges of one client that the provider may refuse in ten minutes. 0: any number. */
  readonly refusedExchanges: number;
  /** Addresses and networks whose `X-Forwarded-For` is trusted, and `unix` for a Unix socket. */
  readonly trustedProxies: readonly string[];
  /** Whether every request comes from a proxy that ends TLS, and none is trusted. */
  readonly behindUnknownProxy: boolean;
  /** Undefined: plain http, behind whatever ends TLS. */
  readonly certificate: Certificate | undefined;
  /** The relay's public address, without a final slash. */
  readonly baseUrl: string;
  /** The relay's own callback, to be registered at the provider. */
  readonly redirectUri: string;
  readonly origin: string;
  readonly frontendUrl: string;
  readonly tokenDelivery: 'query' | 'fragment';
  readonly errorDelivery: 'json' | 'page' | 'redirect';
  readonly clientId: string;
  readonly clientSecret: Secret;
  readonly provider: ProviderSettings;
  readonly pathName: string;
  /** Milliseconds that a whole call to the provider may take. */
  readonly providerTimeout: number;
  /** `HTTPS_PROXY` and `NO_PROXY`; calls on plain http stay on this machine and need none. */
  readonly proxy: Readonly<Record<string, string>>;
  readonly stateCheck: 'browsers' | 'always' | 'off';
  /** The current key and the previous one, if any. Undefined: derived from the client secret. */
  readonly stateKeys: readonly [Secret, ...Secret[]] | undefined;
  readonly logLevel: 'debug' | 'info' | 'warn' | 'error' | 'silent';
  /** Undefined: pretty on a terminal, else json. */
  readonly logFormat: 'pretty' | 'json' | undefined;
  /** Whether the log shows clients' addresses: not at all, whole, or cut to their /24 or /48. */
  readonly logClientAddress: 'off' | 'whole' | 'cut';
  /** Where metrics are answered, if anywhere. */
  readonly metrics: { readonly host: string; readonly port: number } | undefined;
}

/** A configuration, and warnings about what works but should be fixed. */
export interface ConfigReading {
  readonly config: Config;
  readonly warnings: readonly string[];
}

/**
 * Turns flags and environment variables into a Config. A flag beats the environment; a variable
 * that is set but empty counts as unset.
 *
 * @throws {ConfigError} with every fault at once; no fault quotes what may be secret
 */
export function readConfig(given: OptionSources & { readonly readFile: ReadFile }): ConfigReading {
  const sources = { ...withoutOverruled(given), readFile: given.readFile };
  const faults: string[] = [];
  const warnings: string[] = [];
  const fault: Report = (name, message) => faults.push(describeFault(name, message, sources));
  const warn: Report = (name, message) => warnings.push(`${describeOption(name)} ${message}`);

  const values = readOptionValues(sources, fault);
  const clientSecret = readClientSecret(sources, values, fault, warn);
  const ownTls = values.tlsCert !== undefined;
  // A port that is at fault is none: what is judged by the address is judged without it.
  const ownAddress = `${ownTls ? 'https' : 'http'}://localhost:${values.port ?? ''}`;
  const baseUrl = (values.baseUrl?.href ?? ownAddress).replace(/\/+$/, '');
  const certificate = readCertificate(values, baseUrl, sources.readFile, fault, warn);
  const provider = readProviderSettings(values, sources, baseUrl, fault);
  const { environment, readFile } = sources;
  const stateKeyFile = stateKeyPath(values.stateKeyFile, environment, readFile);
  const stateKeys = readStateKeys(stateKeyFile, readFile, fault, warn);
  const proxy = readProxy(sources.environment, faults);
  faults.push(...runtimeFaults(sources.environment));
  reportMissing(values, sources, fault);
  reportContradictions(values, fault);
  warnOfDoubts(values, sources, baseUrl, warn);
  if (faults.length > 0) throw new ConfigError(faults);

  const origin = checked(values.origin);
  const pathName = checked(values.pathName);
  const config: Config = {
    port: checked(values.port),
    host: checked(values.host),
    maxConnections: checked(values.maxConnections),
    rateLimit: values.rateLimit,
    refusedExchanges: checked(values.refusedExchanges),
    trustedProxies: values.trustedProxies ?? [],
    behindUnknownProxy: isBehindUnknownProxy(values, baseUrl),
    certificate,
    baseUrl,
    redirectUri: `${baseUrl}/auth/${pathName}/callback`,
    origin,
    frontendUrl: values.frontendUrl?.href ?? `${origin}/`,
    tokenDelivery: checked(values.tokenDelivery),
    errorDelivery: checked(values.errorDelivery),
    clientId: checked(values.clientId),
    clientSecret: checked(clientSecret),
    provider: checked(provider),
    pathName,
    providerTimeout: checked(values.providerTimeout),
    proxy,
    stateCheck: checked(values.stateCheck),
    stateKeys,
    logLevel: checked(values.logLevel),
    logFormat: values.logFormat,
    logClientAddress: checked(values.logClientAddress),
    metrics:
      values.metricsPort === undefined
        ? undefined
        : { host: checked(values.metricsHost), port: values.metricsPort },
  };
  return { config: Object.freeze(config), warnings };
}

function reportMissing(values: OptionValues, sources: OptionSources, fault: Report): void {
  for (const name of ['origin', 'clientId'] as const) {
    if (sourceOf(name, sources) === undefined) fault(name, 'is required');
  }
  const { BASE_URL: baseUrl, CREDENTIALS_DIRECTORY: asService } = sources.environment;
  if (asService && baseUrl === '' && sources.flags.baseUrl === undefined) {
    fault('baseUrl', 'is empty: a service needs the public address that browsers reach it at');
  }
  if (values.port === 0 && sourceOf('baseUrl', sources) === undefined) {
    fault('baseUrl', 'is required with port 0: its default needs a known port');
  }
}

function readProxy(
  environment: OptionSources['environment'],
  faults: string[],
): Readonly<Record<string, string>> {
  const proxy: Record<string, string> = {};
  for (const name of ['HTTPS_PROXY', 'NO_PROXY']) {
    const value = environment[name] || environment[name.toLowerCase()];
    if (!value) continue;
    if (name === 'NO_PROXY' || isProxyUrl(value)) {
      proxy[name] = value;
    } else {
      faults.push(
        `${name} must be the URL of a proxy: http:// or https://, user and password percent-encoded`,
      );
    }
  }
  return Object.freeze(proxy);
}

function isProxyUrl(value: string): boolean {
  const url = URL.parse(value);
  if (url === null || !/^https?:$/.test(url.protocol)) return false;
  try {
    decodeURIComponent(url.username + url.password);
    return true;
  } catch {
    return false;
  }
}

/** A value that cannot be missing once no fault was reported. */
function checked<Value>(value: Value | undefined): Value {
  if (value === undefined) throw new Error('a value is missing that no fault was reported for');
  return value;
}
