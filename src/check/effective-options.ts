import type { LoginConfig } from '../config/login-config.ts';
import { providerValues } from '../config/provider-values.ts';
import type { Option } from '../config/settings/setting.ts';
import { type OptionName, options } from '../config/settings/settings.ts';
import { type OptionSources, rawValue, readValues, sourceOf } from '../config/sources.ts';
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
  sources: OptionSources,
  config: LoginConfig | undefined,
  provider: Provider | undefined,
): EffectiveOption[] {
  const values = readValues(sources, () => {});
  const derived = {
    ...(config && derivedFromConfig(config, sources)),
    ...(config && provider && derivedFromProvider(config, provider)),
  };
  const effects = (Object.keys(options) as OptionName[]).map((name): EffectiveOption => {
    const option: Option = options[name];
    const { flag, variable } = option;
    const given = sourceOf(name, sources);
    const raw = rawValue(name, sources);
    const value = raw === undefined || values[name] === undefined ? null : raw;
    const own: Effect = {
      value: value && (name === 'clientSecret' || name === 'tokenParams') ? masked : value,
      source: given ?? 'default',
    };
    const known = raw === undefined ? derived[name] : own;
    return { flag, variable, ...(overruled(name, sources) ?? known ?? none) };
  });
  return [...effects, ...environmentSettings(sources.environment)];
}

/** The effect of an option that another option overrides; undefined if none does. */
function overruled(name: OptionName, sources: OptionSources): Effect | undefined {
  if (name === 'provider' && sourceOf('issuer', sources) !== undefined) return none;
  const isSecret = name === 'clientSecret' && clientSecretSource(sources) === 'file';
  return isSecret ? { value: masked, source: 'file' } : undefined;
}

function derivedFromConfig(
  { baseUrl, frontendUrl, redirectUris, stateCheck, keyFile }: LoginConfig,
  sources: OptionSources,
): Partial<Record<OptionName, Effect>> {
  return {
    baseUrl: { value: baseUrl, source: 'default' },
    frontendUrl: frontendUrl === undefined ? none : { value: frontendUrl, source: 'default' },
    clientSecret: { value: masked, source: clientSecretSource(sources) },
    redirectUri:
      redirectUris.length === 0 ? none : { value: redirectUris.join(' '), source: 'default' },
    stateCheck: { value: stateCheck, source: 'default' },
    ...(keyFile && { keyFile: keyFileEffect(keyFile, sources) }),
  };
}

/** The effect of a key file that no option names. */
function keyFileEffect(path: string, { environment }: OptionSources): Effect {
  const credentials = environment['CREDENTIALS_DIRECTORY'];
  if (credentials && path.startsWith(`${credentials}/`)) {
    return { value: masked, source: 'credential' };
  }
  return { value: path, source: 'default' };
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
