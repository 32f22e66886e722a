import { providerValues } from '../config/provider.ts';
import type { Reading } from '../config/reading.ts';
import { type OptionName, optionNames, options } from '../config/settings/settings.ts';
import type { Provider } from '../providers/provider.ts';
import type { LoginConfig } from './context.ts';

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
  const derived = config ? derivedEffects(config, provider, reading) : {};
  const effects = optionNames.map((name): EffectiveOption => {
    const { flag, variable } = options[name];
    return { flag, variable, ...(effectOf(name, reading) ?? derived[name] ?? none) };
  });
  return [...effects, ...environmentSettings(reading.environment)];
}

/** The effect of an option's own value or default; undefined if it has neither. */
function effectOf(name: OptionName, { values, sourceOf, effective }: Reading): Effect | undefined {
  if (name === 'clientSecret' && sourceOf('clientSecretFile') !== undefined) {
    return { value: masked, source: 'file' };
  }
  const texts = effective(name)?.texts;
  if (texts === undefined) return undefined;
  const isMasked = name === 'clientSecret' || name === 'tokenParams';
  const value = values[name] === undefined ? null : texts.join(' ');
  return { value: value && isMasked ? masked : value, source: sourceOf(name) ?? 'default' };
}

/** The effects of options that nothing gives, and that have no default of their own. */
function derivedEffects(
  config: LoginConfig,
  provider: Provider | undefined,
  { environment }: Reading,
): Partial<Record<OptionName, Effect>> {
  const { baseUrl, frontendUrl, errorDelivery, stateCheck, keyFile } = config;
  const redirectUri = config.redirectUris.join(' ') || undefined;
  const byDefault = { baseUrl, frontendUrl, redirectUri, errorDelivery, stateCheck, keyFile };
  const directory = environment['CREDENTIALS_DIRECTORY'];
  const credential = { value: masked, source: 'credential' } as const;
  return {
    ...effects(byDefault, 'default'),
    clientSecret: credential,
    ...(directory && keyFile?.startsWith(`${directory}/`) && { keyFile: credential }),
    ...(provider &&
      effects(providerValues(provider), 'known' in config.provider ? 'preset' : 'issuer')),
  };
}

function effects(
  texts: Readonly<Partial<Record<OptionName, string | undefined>>>,
  source: Effect['source'],
): Partial<Record<OptionName, Effect>> {
  const given = Object.entries(texts).filter(([, value]) => value !== undefined);
  return Object.fromEntries(given.map(([name, value]) => [name, { value, source }]));
}

/** The settings that have no flag: the usual variables for outbound calls. */
function environmentSettings(environment: Reading['environment']): EffectiveOption[] {
  return ['HTTPS_PROXY', 'NO_PROXY', 'NODE_EXTRA_CA_CERTS'].map((variable) => {
    const lowerCase = variable.endsWith('_PROXY') ? environment[variable.toLowerCase()] : undefined;
    const raw = environment[variable] || lowerCase;
    if (!raw) return { flag: null, variable, ...none };
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
