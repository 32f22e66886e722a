import * as v from 'valibot';
import type { NewFiles, ReadFile } from '../text-files.ts';
import { describeFault, type PlacedMessages, withItemNumber } from './fault.ts';
import type { OptionSources } from './option-sources.ts';
import { isLenient, type Level, type Setting } from './settings/setting.ts';
import { type NameAt, namesAt, rowAt, type ValuesAt } from './settings/settings.ts';
import type { SettingsMap } from './settings-map.ts';
import { defaultOf, describeMap, describeSetting, isEntry, positionOf, sourceOf } from './settings-map.ts';
import { whySecretUnfilled, whyUnfilled } from './unfilled-values.ts';

/** The sources and results that all readings of one configuration share. */
export interface ReadingContext extends OptionSources {
  readonly readFile: ReadFile;
  /** Creates a missing key file; undefined if a missing file is a fault. */
  readonly newFiles?: NewFiles;
  readonly faults: PlacedMessages;
  readonly warnings: PlacedMessages;
  /** Collects the files that this command cannot read, but the relay may; undefined if an unreadable file is a fault. */
  readonly unseen?: Unseen[];
}

/** A file that this command cannot read, but the relay may: `check` can run as another user. */
export interface Unseen {
  readonly message: string;
  readonly fix: string;
}

/** The text of a file; undefined if there is none, or after a fault. */
export type FileText = string | Unseen | undefined;

/** Whether only the relay can read a file, so that its content cannot be checked here. */
export const isUnseen = (file: FileText): file is Unseen => typeof file === 'object';

/** The settings of one map, with their values, faults and warnings. */
export type Reading<At extends Level> = ReturnType<typeof createReading<At>>;

/**
 * Parses the settings of one map, with functions to report what is wrong with them. A value that its schema refuses is
 * undefined, and only `reportRefusedValue` reports it.
 */
export function createReading<At extends Level>(context: ReadingContext, map: SettingsMap<At>) {
  type Name = NameAt<At>;
  const { environment, readFile, newFiles, faults, warnings, unseen } = context;
  const { level, values: given } = map;
  const refusals = new Map<string, string>();
  const parsed = namesAt(level).map((name) => {
    const { output, fault } = parseSetting(map, name);
    if (fault !== undefined) refusals.set(name, fault);
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
    /** Whether a flag, a variable or the file sets it, even to a value that its schema refuses. */
    isGiven: (name: Name) => sourceOf(map, name) !== undefined,
    describe: (name: Name) => describeSetting(map, name),
    /** Whether the file gives a list, even with a single value. */
    isList: (name: Name) => map.lists?.has(name) === true,
    /** Reports why the schema of a setting refuses its value. */
    reportRefusedValue(name: string): void {
      const message = refusals.get(name);
      if (message !== undefined) (isLenient(level) ? warn : report)(name, message);
    },
    /** Reports a fault. The message completes a sentence that begins with the setting. Returns undefined. */
    reportFault: (name: Name, message: string) => report(name, message),
    /** Reports a fault of the entry as a whole; without a file, of the option `--path-name`. */
    reportEntryFault: (message: string) =>
      isEntry(map) ? faults.add(`${describeMap(map)} ${message}`, map.position) : report('pathName', message),
    /** Reports settings that are not given. */
    require(...required: Name[]): void {
      for (const name of required) if (!given[name]) report(name, 'is required');
    },
    /** Reports settings that are given. The message completes a sentence. */
    forbid(forbidden: readonly Name[], message: string): void {
      for (const name of forbidden) if (given[name]) report(name, message);
    },
    warn: (name: Name, message: string) => warn(name, message),
    /**
     * Warns about settings that are given, although they have no effect.
     *
     * @param why ends the sentence, and begins with its space or colon: ` without …`, `: …`
     */
    warnOfUnused(unused: readonly Name[], why: string): void {
      for (const name of unused) if (given[name]) warn(name, `has no effect${why}`);
    },
    /** Reports a fault of a variable that is not an option, such as `KEY`. The message completes a sentence. */
    reportVariableFault: (name: string, message: string): undefined => faults.add(`${name} ${message}`),
    warnOfVariable: (name: string, message: string) => warnings.add(`${name} ${message}`),
    /**
     * Notes a file that this user cannot read, but the relay may. If this process is the relay, reports a fault instead.
     *
     * @param asFault the message of the fault, if it differs from the message of the note
     * @returns the note, or undefined after a fault
     */
    reportUnreadable(name: Name, message: string, fix: string, asFault = message): Unseen | undefined {
      // Only the relay itself reads without a list for notes.
      if (unseen === undefined) return report(name, asFault);
      const note = { message: `${describeSetting(map, name)} ${message}`, fix };
      unseen.push(note);
      return note;
    },
  };
}

/** The value of a setting, or why it is refused; neither if it is not set and has no default. */
function parseSetting(map: SettingsMap, name: string): { output?: unknown; fault?: string } {
  const row = rowAt(map.level, name);
  const { repeatable, schema } = row;
  const defaultText = defaultOf(map, name);
  const texts = map.values[name] ?? (defaultText === undefined ? [] : [defaultText]);
  if (texts.length === 0) return {};
  if (texts.length > 1 && !repeatable) return { fault: 'is given more than once' };
  const unfilled = isLenient(map.level) ? undefined : findUnfilled(row, texts);
  if (unfilled !== undefined) return { fault: unfilled };
  const text = texts.join(repeatable === 'lines' ? '\n' : ' ');
  const { success, output, issues } = v.safeParse(schema, text, { abortPipeEarly: true });
  if (success) return { output };
  // For a list, the path of the issue begins with the refused item.
  const { message, path: [item] = [] } = issues[0];
  const isItem = item?.type === 'array';
  return { fault: isItem ? withItemNumber(item.key, item.input.length, message) : message };
}

/** Says which text of a setting is still a placeholder; undefined if none is. Free texts may look like placeholders. */
function findUnfilled({ secret, isFreeText, map: isMap }: Setting, texts: readonly string[]): string | undefined {
  if (isFreeText) return undefined;
  // The value of a header may be a secret.
  const findReason = secret === true || isMap === true ? whySecretUnfilled : whyUnfilled;
  const reasons = texts.map((text) => findReason(isMap ? text.replace(/^.*?: /s, '') : text));
  const index = reasons.findIndex((reason) => reason !== undefined);
  return index === -1 ? undefined : withItemNumber(index, texts.length, `${reasons[index]}`);
}
