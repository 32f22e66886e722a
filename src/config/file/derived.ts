import type { Provider } from '../../providers/provider.ts';
import type { Config, FrontEndConfig, RegistrationConfig } from '../config.ts';
import { providerValues } from '../provider-values.ts';
import type { Level } from '../settings/setting.ts';
import type { SettingName } from '../settings/settings.ts';
import { fileSettings } from '../settings/settings.ts';
import type { Derived, EffectiveEntry, EffectiveFile } from './effective.ts';

type Texts = Readonly<Partial<Record<SettingName, string | undefined>>>;

/**
 * Adds to each entry what presets, issuers and other settings give it.
 *
 * @param providers what issuers have described, by the name of the registration
 */
export function withDerived(
  file: EffectiveFile,
  { registrations, frontEnds }: Config,
  providers: ReadonlyMap<string, Provider>,
): EffectiveFile {
  return {
    ...file,
    providers: file.providers.map((entry, index) => {
      const registration = registrations[index];
      return registration === undefined
        ? entry
        : { ...entry, derived: ofRegistration(entry, registration, providers) };
    }),
    frontEnds: file.frontEnds.map((entry, index) => {
      const frontEnd = frontEnds[index];
      return frontEnd === undefined ? entry : { ...entry, derived: ofFrontEnd(entry, frontEnd) };
    }),
  };
}

function ofRegistration(
  entry: EffectiveEntry,
  { name, provider: settings, stateCheck }: RegistrationConfig,
  providers: ReadonlyMap<string, Provider>,
): Derived[] {
  const byDefault = derived('by default', 'providers', { stateCheck }, entry);
  if ('known' in settings) {
    const [preset] = textsOf(entry, 'provider');
    const values = providerValues(settings.known);
    return [derived(`by the preset ${preset}`, 'providers', values, entry), byDefault];
  }
  const provider = providers.get(name);
  return provider === undefined
    ? [{ from: 'not known now: login-relay check says why', values: urls }, byDefault]
    : [derived('by the issuer', 'providers', providerValues(provider), entry), byDefault];
}

const urls: Derived['values'] = new Map(
  ['authorize-url', 'token-url', 'user-url'].map((key) => [key, '?']),
);

function ofFrontEnd(
  entry: EffectiveEntry,
  { frontendUrl, redirectUris, errorDelivery, registrations }: FrontEndConfig,
): Derived[] {
  const values: Texts = {
    frontendUrl,
    redirectUri: listed(redirectUris),
    errorDelivery,
    providers: listed(registrations),
  };
  return [derived('by default', 'front-ends', values, entry)];
}

function listed(texts: readonly string[]): string | undefined {
  return texts.length === 0 ? undefined : `[${texts.join(', ')}]`;
}

/** The values that the entry does not set. */
function derived(from: string, level: Level, values: Texts, entry: EffectiveEntry): Derived {
  const pairs = fileSettings[level].flatMap(({ name, key }): [string, string][] => {
    const text = values[name];
    return text === undefined || textsOf(entry, name).length > 0 ? [] : [[key, text]];
  });
  return { from, values: new Map(pairs) };
}

function textsOf({ settings }: EffectiveEntry, name: SettingName): readonly string[] {
  return settings.find(({ setting }) => setting.name === name)?.texts ?? [];
}
