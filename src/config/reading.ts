import * as v from 'valibot';
import type { NewFiles, ReadFile } from '../text-files.ts';
import {
  describeFault,
  describePlace,
  numbered,
  type PlacedTexts,
  type Position,
} from './fault.ts';
import type { ConfigFile, FileSettings } from './file/entries.ts';
import type { Option, Setting } from './settings/setting.ts';
import {
  describeOption,
  optionNames,
  type SettingName,
  settings,
  type Values,
} from './settings/settings.ts';
import { type Given, givenBySources, type OptionSources } from './sources.ts';

/** What all readings share. */
export interface Shared extends OptionSources {
  /** Undefined: flags and variables give all settings. */
  readonly file: ConfigFile | undefined;
  readonly readFile: ReadFile;
  /** Undefined: a missing file is a fault. */
  readonly newFiles?: NewFiles;
  readonly faults: PlacedTexts;
  readonly warnings: PlacedTexts;
  /** Gets what this command cannot read, but the relay may. Undefined: that is a fault. */
  readonly unseen?: Unseen[];
}

/** What this command cannot read, but the relay may. */
export interface Unseen {
  readonly message: string;
  readonly fix: string;
}

/** Stands for the content of a file that this command cannot read. */
export const standIn = 'a stand-in for a secret that cannot be read';

/** The settings of the relay, or of one entry of a file: what was given, and where faults and warnings go. */
export type Reading = ReturnType<typeof createReading>;

/** Names the settings of one login for people, and says what sets them. */
export type Naming = Pick<Reading, 'describe' | 'sourceOf'>;

/**
 * Reads settings: reports the faults of each, apart from the others.
 *
 * @param names the settings, by default all that flags can give
 * @param entry the entry of the file that has them. Undefined: flags and variables, and the file for the whole relay
 * @param others the values of other settings
 */
export function createReading(
  shared: Shared,
  names: readonly SettingName[] = optionNames,
  entry?: FileSettings,
  others?: Values,
) {
  const { file, environment, readFile, newFiles, faults, warnings, unseen } = shared;

  /** The map of the file that has the setting, or would have it; undefined: none can. */
  const mapOf = (name: SettingName): FileSettings | undefined =>
    [file, entry].find((map) => map?.level === settings[name].level);

  /** What gives the setting its value; undefined: its default applies. */
  function given(name: SettingName): Given | undefined {
    const isOfEntry = entry !== undefined && settings[name].level !== 'relay';
    const bySources = isOfEntry ? undefined : givenBySources(name, shared);
    const texts = mapOf(name)?.values[name];
    return bySources ?? (texts && { source: 'file', texts });
  }

  const isGiven = (name: SettingName) => given(name) !== undefined;

  /** Names what is at a place of the file for people: `config.yaml:12:5 providers.github`. */
  const at = (position: Position | undefined, what: string) =>
    `${describePlace(file?.path ?? '', position)} ${what.replace(/\.$/, '')}`;

  /** How the file names the setting, and where it is; undefined: it cannot have it. */
  function placeOf(name: SettingName) {
    const map = mapOf(name);
    const row: Setting = settings[name];
    if (map === undefined) return undefined;
    const position = map.positions[name] ?? map.position;
    const path = map.prefix + row.key;
    if (row.inFile !== null) return { position, path, described: at(position, path) };
    if (name !== 'pathName') return undefined;
    const described = `the name of ${at(map.position, map.prefix)}`;
    return { position, path: described, described };
  }

  const inFile = (name: SettingName) =>
    (given(name)?.source ?? 'file') === 'file' ? placeOf(name) : undefined;
  const describe = (name: SettingName) => inFile(name)?.described ?? describeOption(name);
  function fault(name: SettingName, message: string): undefined {
    const text = describeFault(describe(name), settings[name], given(name)?.texts ?? [], message);
    return faults.add(text, inFile(name)?.position);
  }

  const warn = (name: SettingName, message: string) =>
    warnings.add(`${describe(name)} ${message}`, inFile(name)?.position);

  /**
   * The default of a setting. A provider with an issuer, or with its own endpoints in a file, has no preset. Programs
   * log in with OAuth requests only.
   */
  function defaultOf(name: SettingName): string | undefined {
    const { default: otherwise }: Setting = settings[name];
    if (name === 'tokenDelivery' && given('kind')?.texts[0] === 'native') return 'code';
    const hasEndpoints = entry && (isGiven('authorizeUrl') || isGiven('tokenUrl'));
    return name === 'provider' && (isGiven('issuer') || hasEndpoints) ? undefined : otherwise;
  }

  /** The value of a setting; undefined: it has none, or one with a fault, which is reported. */
  function parse(name: SettingName): unknown {
    const { repeatable, schema }: Setting = settings[name];
    const otherwise = defaultOf(name);
    const texts = given(name)?.texts ?? (otherwise === undefined ? [] : [otherwise]);
    if (texts.length === 0) return undefined;
    if (texts.length > 1 && !repeatable) return fault(name, 'is given more than once');
    const text = texts.join(repeatable === 'lines' ? '\n' : ' ');
    const { success, output, issues } = v.safeParse(schema, text, { abortPipeEarly: true });
    return success ? output : fault(name, messageOf(issues[0]));
  }

  const own = Object.fromEntries(names.map((name) => [name, parse(name)]));
  const values: Values = { ...others, ...own };

  return {
    /** The values that are well formed. */
    values,
    /** The name of its entry in the file; undefined: flags and variables give the settings. */
    entryName: entry?.name,
    environment,
    readFile,
    newFiles,
    /** What is in effect, and where it is from, for people; undefined: nothing sets it, and it has no fixed default. */
    effective(name: SettingName) {
      const { repeatable, ...row }: Setting | Option = settings[name];
      const otherwise = defaultOf(name);
      const { source, texts } = given(name) ?? {};
      if (texts === undefined) {
        return otherwise === undefined ? undefined : { texts: [otherwise], from: 'default' };
      }
      if (source !== 'file' && 'flag' in row) {
        const text = texts.join(' ');
        const parts = repeatable ? text.split(' ').filter((part) => part !== '') : [text];
        return { texts: parts, from: source === 'flag' ? row.flag : row.variable };
      }
      const position = mapOf(name)?.positions[name];
      const from = position ? describePlace(file?.path ?? '', position) : 'name of the entry';
      return { texts, from };
    },
    /** What sets the setting; undefined: its default applies. */
    sourceOf: (name: SettingName) => given(name)?.source,
    /** Names a setting for people, as in `--origin (FRONTEND_ORIGIN)`. In a file, a missing one has the place of its map. */
    describe,
    /** The same without a place for a missing one. */
    describeGiven: (name: SettingName) =>
      isGiven(name) ? describe(name) : (placeOf(name)?.path ?? describeOption(name)),
    /** Reports a fault: the message completes a sentence that begins with the setting. Returns undefined. */
    fault,
    /** Reports a fault of the entry as a whole: without a file, of its name. */
    faultOfEntry: (message: string) =>
      entry
        ? faults.add(`${at(entry.position, entry.prefix)} ${message}`, entry.position)
        : fault('pathName', message),
    /** Reports each of these settings that is missing. */
    require(...required: SettingName[]): void {
      for (const name of required) if (!isGiven(name)) fault(name, 'is required');
    },
    /** Reports each of these settings that is set. */
    forbid(forbidden: readonly SettingName[], message: string): void {
      for (const name of forbidden.filter(isGiven)) fault(name, message);
    },
    /** Reports what works but should be fixed. */
    warn,
    /** Warns of each of these settings that is set. */
    warnOfUnused(unused: readonly SettingName[], why: string): void {
      for (const name of unused.filter(isGiven)) warn(name, `has no effect${why}`);
    },
    /** Reports what only the relay may be able to read, and gives a stand-in; undefined: that is a fault. */
    unread(name: SettingName, message: string, fix: string, asFault = message) {
      if (unseen === undefined) fault(name, asFault);
      unseen?.push({ message: `${describe(name)} ${message}`, fix });
      return unseen && standIn;
    },
  };
}

function messageOf({ message, path }: v.BaseIssue<unknown>): string {
  const [item] = path ?? [];
  return item?.type === 'array' ? numbered(item.key, item.input.length, message) : message;
}
