import type { LoginConfig } from '../config/login-config.ts';
import { providerValues } from '../config/provider-settings.ts';
import type { Reading } from '../config/reading.ts';
import { type OptionName, optionNames, options } from '../config/settings/settings.ts';
import type { OptionSources } from '../config/sources.ts';
import type { Provider } from '../providers/provider.ts';
import { clientSecretSource } from './client-secret-source.ts';

/** One setting as it is in effect. */
export interface EffectiveOption {
  /** Null if only a variable can give it. */
  readonly flag: string | null;
  readonly variable: string;
  /** Null if the option has no value, or an unusable one. Secrets are masked. */
  readonly value: string | null;
  /**
   * Where the value came from. `preset`: the provider's preset; `issuer`: its metadata; `file`: the
   * file that another option names; `credential`: a systemd credential.
   */
  readonly source:
    | 'flag'
    | 'environment'
    | 'default'
    | 'preset'
    | 'issuer'
    | 'file'
    | 'credential'
    | 'none';
}

type Effect = Pick<EffectiveOption, 'value' | 'source'>;

const masked = '[secret]';
const none: Effect = { value: null, source: 'none' };

/**
 * Every option with its value and its source.
 *
 * @param config undefined if it has faults
 * @param provider undefined if it is not known
 */
export function effectiveOptions(
  reading: Reading,
  config: LoginConfig | undefined,
  provider: Provider | undefined,
): EffectiveOption[] {
  const derived = {
    ...(config && derivedFromConfig(config, reading)),
    ...(config && provider && derivedFromProvider(config, provider)),
  };
  const effects = optionNames.map((name): EffectiveOption => {
    const { flag, variable } = options[name];
    return { flag, variable, ...(effectOf(name, reading) ?? derived[name] ?? none) };
  });
  return [...effects, ...environmentSettings(reading.environment)];
}

/** What an option's own value or default has for an effect; undefined: it has none of them. */
function effectOf(name: OptionName, reading: Reading): Effect | undefined {
  const { values, sourceOf } = reading;
  if (name === 'provider' && sourceOf('issuer') !== undefined) return none;
  if (name === 'clientSecret' && clientSecretSource(reading) === 'file') {
    return { value: masked, source: 'file' };
  }
  const effective = reading.effective(name);
  if (effective === undefined) return undefined;
  const isMasked = name === 'clientSecret' || name === 'tokenParams';
  const value = values[name] === undefined ? null : effective.texts.join(' ');
  return { value: value && isMasked ? masked : value, source: sourceOf(name) ?? 'default' };
}

function derivedFromConfig(
  { baseUrl, frontendUrl, redirectUris, errorDelivery, stateCheck, keyFile }: LoginConfig,
  reading: Reading,
): Partial<Record<OptionName, Effect>> {
  return {
    baseUrl: { value: baseUrl, source: 'default' },
    frontendUrl: frontendUrl === undefined ? none : { value: frontendUrl, source: 'default' },
    clientSecret: { value: masked, source: clientSecretSource(reading) },
    redirectUri:
      redirectUris.length === 0 ? none : { value: redirectUris.join(' '), source: 'default' },
    errorDelivery: { value: errorDelivery, source: 'default' },
    stateCheck: { value: stateCheck, source: 'default' },
    ...(keyFile && { keyFile: keyFileEffect(keyFile, reading) }),
  };
}

/** The effect of a key file that no option names. */
function keyFileEffect(path: string, { environment }: Reading): Effect {
  const credentials = environment['CREDENTIALS_DIRECTORY'];
  const isCredential = credentials && path.startsWith(`${credentials}/`);
  return isCredential
    ? { value: masked, source: 'credential' }
    : { value: path, source: 'default' };
}

function derivedFromProvider(
  config: LoginConfig,
  provider: Provider,
): Partial<Record<OptionName, Effect>> {
  const source = 'known' in config.provider ? 'preset' : 'issuer';
  const values = Object.entries(providerValues(provider));
  return Object.fromEntries(values.map(([name, value]) => [name, { value, source }]));
}

/** The settings that have no flag: the usual variables for outbound calls. */
function environmentSettings(environment: OptionSources['environment']): EffectiveOption[] {
  return ['HTTPS_PROXY', 'NO_PROXY', 'NODE_EXTRA_CA_CERTS'].map((variable) => {
    const lowerCase = variable.endsWith('_PROXY') ? environment[variable.toLowerCase()] : undefined;
    const raw = environment[variable] || lowerCase;
    if (!raw) return { flag: null, variable, value: null, source: 'none' };
    const value = variable === 'HTTPS_PROXY' ? withoutPassword(raw) : raw;
    return { flag: null, variable, value, source: 'environment' };
  });
}

function withoutPassword(proxy: string): string | null {
  const url = URL.parse(proxy);
  if (url === null || url.host === '') return null;
  const credentials = url.username === '' && url.password === '' ? '' : '[secret]@';
  return `${url.protocol}//${credentials}${url.host}`;
}
