import { resolve } from 'node:path';
import { Document, stringify, YAMLMap } from 'yaml';
import type { Provider } from '../../providers/provider.ts';
import type { Config, FrontEndConfig, RegistrationConfig } from '../config.ts';
import { settingsFromProvider } from '../provider-settings.ts';
import type { Readings } from '../readings.ts';
import { filePath, sharedMemory, typedValue } from '../schemas.ts';
import { levels } from '../settings/setting.ts';
import { type FileSetting, fileSettings } from '../settings/settings.ts';
import type { SettingsMap } from '../settings-map.ts';
import { findEffective } from '../settings-map.ts';

const masked = '[secret]';

/** Writes the effective value of a setting into the YAML map of its level, or leaves it out. */
type WriteSetting = (map: YAMLMap, setting: FileSetting, found: ReturnType<typeof findEffective>) => void;

/** Effective texts, by the names of the settings that would give them. */
type Texts = Readonly<Record<string, string | undefined>>;

/**
 * Formats the effective configuration as a configuration file. A comment after each setting names its source. Values
 * that come from presets, issuers and defaults are in comments, so that the file has the same meaning if it is read.
 * Secrets are masked.
 *
 * @param config gives the values in comments. Without it, because it has faults, there are no such comments
 * @param described the providers that issuers described, by registration
 */
export function formatConfigFile(
  readings: Readings,
  config?: Config,
  described: ReadonlyMap<string, Provider> = new Map(),
): string {
  const baseUrl = config && { texts: [config.baseUrl], from: 'default' };
  const write: WriteSetting = (map, setting, found) =>
    writeCommented(map, setting, found ?? (setting.name === 'baseUrl' ? baseUrl : undefined));
  const file = buildFile(readings, write, (map, index) => {
    const registration = map.level === 'providers' ? config?.registrations[index] : undefined;
    if (registration) return commentOnRegistration(map, registration, described);
    const frontEnd = map.level === 'front-ends' ? config?.frontEnds[index] : undefined;
    return frontEnd ? commentOnFrontEnd(map, frontEnd) : [];
  });
  return stringifyCommented(file);
}

/** Formats only what the operator has set, without defaults, as a configuration file with comments. */
export function formatChangedSettings(readings: Readings): string {
  const write: WriteSetting = (map, setting, found) => {
    if (found?.from !== 'default') writeCommented(map, setting, found);
  };
  return stringifyCommented(buildFile(readings, write));
}

/** Writes a setting with a comment that names its source. A secret is masked. */
const writeCommented: WriteSetting = (map, setting, found) => {
  const { key, schema, secret, map: isMap } = setting;
  if (found === undefined) return;
  // The path of a secret file is no secret. Nor is the address of the shared memory, which cannot contain a password.
  const isSecret = secret && schema !== filePath && schema !== sharedMemory;
  const maskIfSecret = (text: string) => (isSecret ? masked : typedValue(schema, text));
  const value = isMap
    ? mapFromLines(found.texts, maskIfSecret)
    : valueOrList(found.texts.map(maskIfSecret), setting, found);
  const node = new Document().createNode(value, { flow: true });
  node.comment = ` ${found.from}`;
  map.set(key, node);
};

/** Turns a setting's lines `key: value` into a map. */
const mapFromLines = (lines: readonly string[], toValue: (text: string) => unknown) =>
  Object.fromEntries(lines.map((line) => [line.replace(/: .*/s, ''), toValue(line.replace(/^.*?: /s, ''))]));

/** The value of a setting in a file: a list if it has several values, or if a list of one means something else. */
function valueOrList(
  values: readonly unknown[],
  { distinguishesList }: FileSetting,
  found: ReturnType<typeof findEffective>,
): unknown {
  const staysList = distinguishesList && found?.isList;
  return values.length === 1 && !staysList ? values[0] : values;
}

const stringifyCommented = (file: YAMLMap) => stringify(file, { lineWidth: 0, flowCollectionPadding: false });

/**
 * Formats the file that can replace the flags and variables in effect. Defaults are left out, and paths are absolute. In
 * place of a client secret, it names a file for it.
 */
export function formatMigratedFile(readings: Readings): string {
  const file = buildFile(readings, (map, setting, found) => {
    const { name, key, schema } = setting;
    const { texts = [], from } = found ?? {};
    // Write the preset even if it is the default: in a file, a provider with endpoints of its own has no default preset.
    if (from === undefined || (from === 'default' && name !== 'provider')) return;
    const toValue = schema === filePath ? resolve : (text: string) => typedValue(schema, text);
    if (name === 'clientSecret') map.set('client-secret-file', './client-secret');
    else {
      const values = texts.map((text) => toValue(text));
      map.set(key, valueOrList(values, setting, found));
    }
  });
  return stringify(file);
}

/** Builds a configuration file. @param commentOf the lines of the comment after an entry */
function buildFile(
  { relay, registrations, resources, frontEnds, pages }: Readings,
  write: WriteSetting,
  commentOf = (_map: SettingsMap, _index: number): readonly string[] => [],
): YAMLMap {
  function buildMap(map: SettingsMap): YAMLMap {
    const yaml = new YAMLMap();
    for (const setting of fileSettings[map.level]) write(yaml, setting, findEffective(map, setting.name));
    for (const level of levels[map.level].innerLevels ?? []) {
      const innerMaps = (map.inside[level] ?? []).map(buildMap);
      if (innerMaps.length > 0) yaml.set(level, levels[level].shape === 'list' ? innerMaps : innerMaps[0]);
    }
    return yaml;
  }
  const buildEntries = (readings: readonly { readonly name: string; readonly map: SettingsMap }[]) =>
    new Map(
      readings.map(({ name, map }, index) => {
        const yaml = buildMap(map);
        yaml.comment = commentOf(map, index).join('\n') || null;
        return [name, yaml];
      }),
    );
  // The other levels inside the relay's map have named entries, which are added with their names.
  const file = buildMap({ ...relay.map, inside: pages ? { pages: [pages.map] } : {} });
  file.set('providers', buildEntries(registrations));
  if (resources.length > 0) file.set('resources', buildEntries(resources));
  if (frontEnds.length > 0) file.set('front-ends', buildEntries(frontEnds));
  return file;
}

/** The lines of a comment with the settings of a registration that its preset, its issuer and defaults give. */
function commentOnRegistration(
  map: SettingsMap,
  { name, provider: settings, stateCheck }: RegistrationConfig,
  discovered: ReadonlyMap<string, Provider>,
): string[] {
  const preset = findEffective(map, 'provider')?.texts[0];
  const provider = 'known' in settings ? settings.known : discovered.get(name);
  const origin = preset === undefined ? 'by default' : `by the preset ${preset}`;
  const ofIssuer = provider ? 'by the issuer' : 'not known now: login-relay check says why';
  const from = findEffective(map, 'issuer') ? ofIssuer : origin;
  const unknown = { authorizeUrl: '?', tokenUrl: '?', userUrl: '?' };
  const values = provider ? settingsFromProvider(provider) : unknown;
  return [...commentOnUnset(map, from, values), ...commentOnUnset(map, 'by default', { stateCheck })];
}

/** The lines of a comment with defaults of a front end that depend on other settings. */
function commentOnFrontEnd(
  map: SettingsMap,
  { kind, frontendUrl, redirectUris, errorDelivery, registrations }: FrontEndConfig,
): string[] {
  // These settings are for people, so a machine can have none.
  if (kind === 'machine') return [];
  const listed = (texts: readonly string[]) => (texts.length === 0 ? undefined : `[${texts.join(', ')}]`);
  return commentOnUnset(map, 'by default', {
    frontendUrl,
    redirectUri: listed(redirectUris),
    errorDelivery,
    providers: listed(registrations),
  });
}

/** The lines of a comment with the values of settings that an entry leaves out. @param from says what gives them */
function commentOnUnset(map: SettingsMap, from: string, texts: Texts): string[] {
  const lines = fileSettings[map.level].flatMap(({ name, key }) =>
    texts[name] === undefined || findEffective(map, name) ? [] : [`   ${key}: ${texts[name]}`],
  );
  return lines.length === 0 ? [] : [` ${from}:`, ...lines];
}
