import * as v from 'valibot';
import type { NewFiles, ReadFile } from '../text-files.ts';
import { describeFault, type PlacedMessages, withItemNumber } from './fault.ts';
import { isLenient, type Level } from './settings/setting.ts';
import { type NameAt, namesAt, rowAt, type ValuesAt } from './settings/settings.ts';
import type { SettingsMap } from './settings-map.ts';
import { defaultOf, describeMap, describeSetting, isEntry, positionOf, sourceOf } from './settings-map.ts';
import type { OptionSources } from './sources.ts';
import { whyUnfilled } from './unfilled-values.ts';

export interface ReadingContext extends OptionSources {
  readonly readFile: ReadFile;
  /** Undefined if a missing file is a fault. */
  readonly newFiles?: NewFiles;
  readonly faults: PlacedMessages;
  readonly warnings: PlacedMessages;
  /** Collects what this command cannot read, but the relay may. Undefined if that is a fault. */
  readonly unseen?: Unseen[];
}

/** A secret or file that this command cannot read, but the relay may. */
export interface Unseen {
  readonly message: string;
  readonly fix: string;
}

/** The text of a file. Undefined if there is none, or after a fault. */
export type FileText = string | Unseen | undefined;

/** The settings of one map, with their values, faults and warnings. */
export type Reading<At extends Level> = ReturnType<typeof createReading<At>>;

/** Reads the settings of one map. Only `reportRefusedValue` reports values that their schemas refuse. */
export function createReading<At extends Level>(shared: ReadingContext, map: SettingsMap<At>) {
  type Name = NameAt<At>;
  const { environment, readFile, newFiles, faults, warnings, unseen } = shared;
  const { level, values: given } = map;
  const refused = new Map<string, string>();
  const parsed = namesAt(level).map((name) => {
    const { output, fault } = parseSetting(map, name);
    if (fault !== undefined) refused.set(name, fault);
    return [name, output];
  });
  const values: ValuesAt<At> = Object.fromEntries(parsed);

  function report(name: string, message: string): undefined {
    const described = describeSetting(map, name);
    const text = describeFault(described, rowAt(level, name), given[name] ?? [], message);
    return faults.add(text, positionOf(map, name));
  }
  const warn = (name: string, message: string) =>
    warnings.add(`${describeSetting(map, name)} ${message}`, positionOf(map, name));

  return {
    level,
    values,
    map,
    environment,
    readFile,
    newFiles,
    sourceOf: (name: Name) => sourceOf(map, name),
    describe: (name: Name) => describeSetting(map, name),
    /** Reports why the schema of a setting refuses its value. */
    reportRefusedValue(name: string): void {
      const message = refused.get(name);
      if (message !== undefined) (isLenient(level) ? warn : report)(name, message);
    },
    /** Reports a fault. The message completes a sentence that begins with the setting. Returns undefined. */
    reportFault: (name: Name, message: string) => report(name, message),
    /** Reports a fault of the entry as a whole; without a file, of its name. */
    reportEntryFault: (message: string) =>
      isEntry(map) ? faults.add(`${describeMap(map)} ${message}`, map.position) : report('pathName', message),
    require(...required: Name[]): void {
      for (const name of required) if (!given[name]) report(name, 'is required');
    },
    forbid(forbidden: readonly Name[], message: string): void {
      for (const name of forbidden) if (given[name]) report(name, message);
    },
    warn: (name: Name, message: string) => warn(name, message),
    warnOfUnused(unused: readonly Name[], why: string): void {
      for (const name of unused) if (given[name]) warn(name, `has no effect${why}`);
    },
    /** Reports a fault of a variable that is not an option. The message completes a sentence. */
    reportVariableFault: (name: string, message: string): undefined => faults.add(`${name} ${message}`),
    warnOfVariable: (name: string, message: string) => warnings.add(`${name} ${message}`),
    /**
     * Notes something that this user cannot read, but the relay may. If the relay itself reads, it is a fault:
     * undefined.
     */
    reportUnreadable(name: Name, message: string, fix: string, asFault = message): Unseen | undefined {
      if (unseen === undefined) return report(name, asFault);
      const note = { message: `${describeSetting(map, name)} ${message}`, fix };
      unseen.push(note);
      return note;
    },
  };
}

/** The value of a setting, or why its schema refuses it; neither if it is not set and has no default. */
function parseSetting(map: SettingsMap, name: string): { output?: unknown; fault?: string } {
  const { repeatable, schema, secret = false, isFreeText, map: isMap } = rowAt(map.level, name);
  const otherwise = defaultOf(map, name);
  const texts = map.values[name] ?? (otherwise === undefined ? [] : [otherwise]);
  if (texts.length === 0) return {};
  if (texts.length > 1 && !repeatable) return { fault: 'is given more than once' };
  if (!isFreeText && !isLenient(map.level)) {
    // A map is checked without its keys, and values of headers may be in quotes.
    const unfilled = texts.map((one) =>
      whyUnfilled(isMap ? one.replace(/^.*?: /s, '') : one, secret || isMap === true),
    );
    const index = unfilled.findIndex((why) => why !== undefined);
    if (index >= 0) return { fault: withItemNumber(index, texts.length, `${unfilled[index]}`) };
  }
  const text = texts.join(repeatable === 'lines' ? '\n' : ' ');
  const { success, output, issues } = v.safeParse(schema, text, { abortPipeEarly: true });
  if (success) return { output };
  // In a list, the path leads to the refused item.
  const { message, path: [item] = [] } = issues[0];
  const isItem = item?.type === 'array';
  return { fault: isItem ? withItemNumber(item.key, item.input.length, message) : message };
}
