import type { Level, Option } from '../settings/setting.ts';
import { type FileSetting, fileSettings, options } from '../settings/settings.ts';
import { type OptionSources, rawValue, sourceOf } from '../sources.ts';
import type { ConfigFile, FileEntry, FileSettings } from './config-file.ts';
import { describePlace } from './config-file.ts';

/** A setting that has a value. */
export interface EffectiveSetting {
  readonly setting: FileSetting;
  readonly texts: readonly string[];
  /** Where the value is from, for people: a flag, a variable, a place in a file, or `default`. */
  readonly source: string;
}

/** Values in effect that no setting gives. */
export interface Derived {
  /** Where they come from, for people. */
  readonly from: string;
  /** Texts by the keys of their settings. */
  readonly values: ReadonlyMap<string, string>;
}

/** An entry of `providers` or `front-ends`. */
export interface EffectiveEntry {
  readonly name: string;
  readonly settings: readonly EffectiveSetting[];
  /** What is in effect besides. */
  readonly derived?: readonly Derived[];
  /** The settings of each entry of `proxy`. */
  readonly apis: readonly (readonly EffectiveSetting[])[];
}

/** A configuration in the form of a file, wherever its values are from. */
export interface EffectiveFile {
  readonly relay: readonly EffectiveSetting[];
  readonly providers: readonly EffectiveEntry[];
  readonly frontEnds: readonly EffectiveEntry[];
}

/** The name of the front end that flags describe. */
const nameByFlags = 'app';

/**
 * The settings in effect: what is given, and the defaults that are always the same.
 *
 * @param sources without what a flag overrules
 * @param file undefined: there is none. Flags and variables beat it
 * @param baseUrl its default, which depends on other settings
 */
export function effectiveFile(
  sources: OptionSources,
  file: ConfigFile | undefined,
  baseUrl?: string,
): EffectiveFile {
  const flagged = (level: Level) => settingsOf(level, (setting) => bySources(setting, sources));
  const entry = (path: string, one: FileEntry): EffectiveEntry => ({
    name: one.name,
    settings: settingsOf(one.kind, (setting) => byFile(setting, one, path)),
    apis: one.apis.map((api) => settingsOf('proxy', (setting) => byFile(setting, api, path))),
  });
  const entries = (
    kind: FileEntry['kind'],
    given: readonly FileEntry[] | undefined,
    name: string,
  ): EffectiveEntry[] =>
    given?.map((one) => entry(file?.path ?? '', one)) ?? [
      { name, settings: flagged(kind), apis: [] },
    ];

  return {
    relay: settingsOf(
      'relay',
      (setting) =>
        bySources(setting, sources) ??
        (file && byFile(setting, file.relay, file.path)) ??
        (setting.name === 'baseUrl' && baseUrl !== undefined
          ? { texts: [baseUrl], source: 'default' }
          : undefined),
    ),
    providers: entries('providers', file?.providers, rawValue('pathName', sources) ?? ''),
    frontEnds: entries('front-ends', file?.frontEnds, nameByFlags),
  };
}

type Given = Omit<EffectiveSetting, 'setting'> | undefined;

function settingsOf(level: Level, given: (setting: FileSetting) => Given): EffectiveSetting[] {
  const issuer = fileSettings[level].find(({ key }) => key === 'issuer');
  const hasIssuer = issuer !== undefined && given(issuer) !== undefined;
  return fileSettings[level].flatMap((setting) => {
    const found = given(setting) ?? byDefault(setting);
    // The default is not in effect with an issuer.
    const isOverruled = hasIssuer && setting.name === 'provider' && found?.source === 'default';
    return found === undefined || isOverruled ? [] : [{ setting, ...found }];
  });
}

function bySources({ option }: FileSetting, sources: OptionSources): Given {
  const source = option && sourceOf(option, sources);
  if (option === undefined || source === undefined) return undefined;
  const { flag, variable, repeatable }: Option = options[option];
  const text = rawValue(option, sources) ?? '';
  return {
    texts: repeatable ? text.split(' ').filter((part) => part !== '') : [text],
    source: source === 'flag' ? flag : variable,
  };
}

function byFile({ name }: FileSetting, { values, positions }: FileSettings, path: string): Given {
  const texts = values[name];
  if (texts === undefined) return undefined;
  const position = positions[name];
  return { texts, source: position ? describePlace(path, position) : 'name of the entry' };
}

function byDefault({ default: text }: FileSetting): Given {
  return text === undefined ? undefined : { texts: [text], source: 'default' };
}
