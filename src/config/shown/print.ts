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

/** Writes the effective value of a setting into a map of its level, or leaves it out. */
type Write = (map: YAMLMap, setting: FileSetting, found: ReturnType<typeof findEffective>) => void;

/** Effective texts, by the names of the settings that would give them. */
type Texts = Readonly<Record<string, string | undefined>>;

/**
 * The effective configuration as a configuration file. A comment after each setting names its source. What no setting
 * gives is in comments, so that the file has the same meaning if it is read. Secrets are masked.
 *
 * @param config supplies what presets, issuers and other settings give
 * @param described the providers that issuers described, by registration
 */
export function printFile(
  readings: Readings,
  config?: Config,
  described: ReadonlyMap<string, Provider> = new Map(),
): string {
  const baseUrl = config && { texts: [config.baseUrl], from: 'default' };
  const write: Write = (map, setting, found) =>
    writeCommented(map, setting, found ?? (setting.name === 'baseUrl' ? baseUrl : undefined));
  const file = buildFile(readings, write, (map, index) => {
    const registration = config?.registrations[index];
    const frontEnd = config?.frontEnds[index];
    if (map.level === 'front-ends') return frontEnd ? commentOnFrontEnd(map, frontEnd) : [];
    if (map.level === 'resources') return [];
    return registration ? commentOnRegistration(map, registration, described) : [];
  });
  return textOf(file);
}

/** What the operator has set, as a configuration file with comments, without defaults. */
export function printChanged(readings: Readings): string {
  const write: Write = (map, setting, found) => {
    if (found?.from !== 'default') writeCommented(map, setting, found);
  };
  return textOf(buildFile(readings, write));
}

const writeCommented: Write = (map, { key, schema, secret, map: isMap }, found) => {
  if (found === undefined) return;
  // Show paths of secret files, and the address of the shared memory (a password in it is refused).
  const isSecret = secret && schema !== filePath && schema !== sharedMemory;
  const shown = (text: string) => (isSecret ? masked : typedValue(schema, text));
  const value = isMap ? mapOfLines(found.texts, shown) : oneOrList(found.texts.map(shown));
  const node = new Document().createNode(value, { flow: true });
  node.comment = ` ${found.from}`;
  map.set(key, node);
};

/** A map of a setting's lines `key: value`. */
const mapOfLines = (lines: readonly string[], shown: (text: string) => unknown) =>
  Object.fromEntries(lines.map((line) => [line.replace(/: .*/s, ''), shown(line.replace(/^.*?: /s, ''))]));

const oneOrList = (values: readonly unknown[]) => (values.length === 1 ? values[0] : values);
const textOf = (file: YAMLMap) => stringify(file, { lineWidth: 0, flowCollectionPadding: false });

/**
 * The file that replaces the effective flags and variables. Defaults are left out, and paths are absolute. If the
 * client secret is among them, the file names a file for it.
 */
export function migratedFile(readings: Readings): string {
  const file = buildFile(readings, (map, { name, key, schema }, found) => {
    const { texts = [], from } = found ?? {};
    // In a file, a provider with endpoints of its own has no preset by default.
    if (from === undefined || (from === 'default' && name !== 'provider')) return;
    const toValue = schema === filePath ? resolve : (text: string) => typedValue(schema, text);
    if (name === 'clientSecret') map.set('client-secret-file', './client-secret');
    else map.set(key, oneOrList(texts.map((text) => toValue(text))));
  });
  return stringify(file);
}

/** A configuration file. @param commentOf the lines of the comment after an entry */
function buildFile(
  { relay, registrations, resources, frontEnds, pages }: Readings,
  write: Write,
  commentOf = (_map: SettingsMap, _index: number): readonly string[] => [],
): YAMLMap {
  function buildMap(map: SettingsMap): YAMLMap {
    const yaml = new YAMLMap();
    for (const one of fileSettings[map.level]) write(yaml, one, findEffective(map, one.name));
    for (const level of levels[map.level].holds ?? []) {
      // Maps of named entries are set below. Any other level has one map or a list.
      const inner = (map.inside[level] ?? []).map(buildMap);
      if (inner.length > 0) yaml.set(level, levels[level].shape === 'list' ? inner : inner[0]);
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
  const file = buildMap({ ...relay.map, inside: pages ? { pages: [pages.map] } : {} });
  file.set('providers', buildEntries(registrations));
  if (resources.length > 0) file.set('resources', buildEntries(resources));
  if (frontEnds.length > 0) file.set('front-ends', buildEntries(frontEnds));
  return file;
}

/** The comment on a registration: what its preset, its issuer and defaults give. */
function commentOnRegistration(
  map: SettingsMap,
  { name, provider: settings, stateCheck }: RegistrationConfig,
  described: ReadonlyMap<string, Provider>,
): string[] {
  const preset = findEffective(map, 'provider')?.texts[0];
  const provider = 'known' in settings ? settings.known : described.get(name);
  let from = preset === undefined ? 'by default' : `by the preset ${preset}`;
  if (findEffective(map, 'issuer')) {
    from = provider ? 'by the issuer' : 'not known now: login-relay check says why';
  }
  const unknown = { authorizeUrl: '?', tokenUrl: '?', userUrl: '?' };
  const values = provider ? settingsFromProvider(provider) : unknown;
  return [...commentOnUnset(map, from, values), ...commentOnUnset(map, 'by default', { stateCheck })];
}

/** The comment on a front end: the defaults of these four settings, unless it sets them. */
function commentOnFrontEnd(
  map: SettingsMap,
  { kind, frontendUrl, redirectUris, errorDelivery, registrations }: FrontEndConfig,
): string[] {
  // A machine may set none of them.
  if (kind === 'machine') return [];
  const listed = (texts: readonly string[]) => (texts.length === 0 ? undefined : `[${texts.join(', ')}]`);
  return commentOnUnset(map, 'by default', {
    frontendUrl,
    redirectUri: listed(redirectUris),
    errorDelivery,
    providers: listed(registrations),
  });
}

/** A comment that lists the values of settings that an entry leaves out. @param from says what gives them */
function commentOnUnset(map: SettingsMap, from: string, texts: Texts): string[] {
  const lines = fileSettings[map.level].flatMap(({ name, key }) =>
    texts[name] === undefined || findEffective(map, name) ? [] : [`   ${key}: ${texts[name]}`],
  );
  return lines.length === 0 ? [] : [` ${from}:`, ...lines];
}
