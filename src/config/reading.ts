import * as v from 'valibot';
import type { NewFiles, ReadFile } from '../text-files.ts';
import { describeFault, numbered, type PlacedTexts } from './fault.ts';
import type { FileSettings } from './file/entries.ts';
import { defaultOf, describe, describeMap, isEntry, positionOf, sourceOf } from './given.ts';
import { whyUnfilled } from './literals.ts';
import { isLenient, type Level } from './settings/setting.ts';
import { type NameAt, namesAt, rowAt, type ValuesAt } from './settings/settings.ts';
import type { OptionSources } from './sources.ts';

/** What all readings share. */
export interface Shared extends OptionSources {
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

/** The text of a file. Undefined: there is none, or it cannot be used, which was reported. */
export type FileText = string | Unseen | undefined;

/** The settings of the relay, of a provider, or of something else: their values, and where faults and warnings go. */
export type Reading<At extends Level> = ReturnType<typeof createReading<At>>;

/** Reads the settings of one map. What their schemas refuse is only reported by `reportForm`. */
export function createReading<At extends Level>(shared: Shared, map: FileSettings<At>) {
  type Name = NameAt<At>;
  const { environment, readFile, newFiles, faults, warnings, unseen } = shared;
  const { level, values: given } = map;
  const refused = new Map<string, string>();
  const parsed = namesAt(level).map((name) => {
    const { output, fault } = parse(map, name);
    if (fault !== undefined) refused.set(name, fault);
    return [name, output];
  });
  const values: ValuesAt<At> = Object.fromEntries(parsed);

  function report(name: string, message: string): undefined {
    const described = describe(map, name);
    const text = describeFault(described, rowAt(level, name), given[name] ?? [], message);
    return faults.add(text, positionOf(map, name));
  }
  const warn = (name: string, message: string) =>
    warnings.add(`${describe(map, name)} ${message}`, positionOf(map, name));

  return {
    level,
    /** The values that their schemas accept. */
    values,
    map,
    environment,
    readFile,
    newFiles,
    sourceOf: (name: Name) => sourceOf(map, name),
    describe: (name: Name) => describe(map, name),
    /** Reports why the schema of a setting refuses what it was given, if it does. */
    reportForm(name: string): void {
      const message = refused.get(name);
      if (message !== undefined) (isLenient(level) ? warn : report)(name, message);
    },
    /** Reports a fault: the message completes a sentence that begins with the setting. Returns undefined. */
    fault: (name: Name, message: string) => report(name, message),
    /** Reports a fault of the entry as a whole: without a file, of its name. */
    faultOfEntry: (message: string) =>
      isEntry(map) ? faults.add(`${describeMap(map)} ${message}`, map.position) : report('pathName', message),
    /** Reports each of these settings that is missing. */
    require(...required: Name[]): void {
      for (const name of required) if (!given[name]) report(name, 'is required');
    },
    /** Reports each of these settings that is set. */
    forbid(forbidden: readonly Name[], message: string): void {
      for (const name of forbidden) if (given[name]) report(name, message);
    },
    /** Reports what works but should be fixed. */
    warn: (name: Name, message: string) => warn(name, message),
    /** Warns of each of these settings that is set. */
    warnOfUnused(unused: readonly Name[], why: string): void {
      for (const name of unused) if (given[name]) warn(name, `has no effect${why}`);
    },
    /** Reports a fault of a variable that is no option. The message completes a sentence. */
    faultOfVariable: (name: string, message: string): undefined => faults.add(`${name} ${message}`),
    warnOfVariable: (name: string, message: string) => warnings.add(`${name} ${message}`),
    /** Notes what this user cannot read, but the relay may. If the relay itself reads, it is a fault: undefined. */
    unread(name: Name, message: string, fix: string, asFault = message): Unseen | undefined {
      if (unseen === undefined) return report(name, asFault);
      const note = { message: `${describe(map, name)} ${message}`, fix };
      unseen.push(note);
      return note;
    },
  };
}

/** The value of a setting, or why its schema refuses it; neither: it is not set, and has no default. */
function parse(map: FileSettings, name: string): { output?: unknown; fault?: string } {
  const { repeatable, schema, secret = false, isFreeText, map: isMap } = rowAt(map.level, name);
  const otherwise = defaultOf(map, name);
  const texts = map.values[name] ?? (otherwise === undefined ? [] : [otherwise]);
  if (texts.length === 0) return {};
  if (texts.length > 1 && !repeatable) return { fault: 'is given more than once' };
  if (!isFreeText && !isLenient(map.level)) {
    // The key of a map says nothing, and values of headers may be in quotes.
    const unfilled = texts.map((one) =>
      whyUnfilled(isMap ? one.replace(/^.*?: /s, '') : one, secret || isMap === true),
    );
    const index = unfilled.findIndex((why) => why !== undefined);
    if (index >= 0) return { fault: numbered(index, texts.length, `${unfilled[index]}`) };
  }
  const text = texts.join(repeatable === 'lines' ? '\n' : ' ');
  const { success, output, issues } = v.safeParse(schema, text, { abortPipeEarly: true });
  if (success) return { output };
  // A path leads into the value: if the value is a list, to the item that is refused.
  const { message, path: [item] = [] } = issues[0];
  const isItem = item?.type === 'array';
  return { fault: isItem ? numbered(item.key, item.input.length, message) : message };
}
