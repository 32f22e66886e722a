import * as v from 'valibot';
import type { NewFiles, ReadFile } from '../text-files.ts';
import { describeFault, numbered, type PlacedTexts } from './fault.ts';
import type { FileSettings } from './file/entries.ts';
import { createGiven, type Effective, type Naming } from './given.ts';
import type { Level } from './settings/setting.ts';
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
export class Unseen {
  readonly message: string;
  readonly fix: string;

  constructor(message: string, fix: string) {
    this.message = message;
    this.fix = fix;
  }
}

/** The settings of the relay, of a provider, or of something else in a file: their values, and where faults and warnings go. */
export interface Reading<At extends Level>
  extends Naming<NameAt<At>>,
    Pick<Shared, 'environment' | 'readFile'> {
  readonly level: At;
  readonly newFiles: NewFiles | undefined;
  /** The values that are well formed. */
  readonly values: ValuesAt<At>;
  /** The name of its entry in the file; undefined: flags and variables give the settings. */
  readonly entryName: string | undefined;
  /** What is in effect; undefined: nothing sets it, and it has no fixed default. */
  readonly effective: (name: NameAt<At>) => Effective | undefined;
  /** Names a setting, without a place if it is missing. */
  readonly describeGiven: (name: NameAt<At>) => string;
  /** Reports the fault of form of a setting, if it has one. */
  readonly reportForm: (name: string) => void;
  /** Reports a fault: the message completes a sentence that begins with the setting. */
  readonly fault: (name: NameAt<At>, message: string) => undefined;
  /** Reports a fault of the entry as a whole: without a file, of its name. */
  readonly faultOfEntry: (message: string) => void;
  /** Reports each of these settings that is missing. */
  readonly require: (...required: NameAt<At>[]) => void;
  /** Reports each of these settings that is set. */
  readonly forbid: (forbidden: readonly NameAt<At>[], message: string) => void;
  /** Reports what works but should be fixed. */
  readonly warn: (name: NameAt<At>, message: string) => void;
  /** Warns of each of these settings that is set. */
  readonly warnOfUnused: (unused: readonly NameAt<At>[], why: string) => void;
  /** Reports what only the relay may be able to read. Undefined after a fault: this command must read all. */
  readonly unread: (
    name: NameAt<At>,
    message: string,
    fix: string,
    asFault?: string,
  ) => Unseen | undefined;
}

/** Reads the settings of one map. Their faults of form are not reported yet. */
export function createReading<At extends Level>(
  shared: Shared,
  map: FileSettings<At>,
): Reading<At> {
  const { environment, readFile, newFiles, faults, warnings, unseen } = shared;
  const { level, name: entryName } = map;
  const given = createGiven(shared, map);
  const { isEntry, isGiven, textsOf, positionOf, sourceOf, describe, describeGiven } = given;
  const forms = new Map<string, string>();

  function fault(name: string, message: string): undefined {
    const text = describeFault(describe(name), rowAt(level, name), textsOf(name) ?? [], message);
    return faults.add(text, positionOf(name));
  }
  const warn = (name: string, message: string) =>
    warnings.add(`${describe(name)} ${message}`, positionOf(name));

  /**
   * The default of a setting. A provider with an issuer, or with its own endpoints in a file, has no preset. Programs
   * log in with OAuth requests only.
   */
  function defaultOf(name: string): string | undefined {
    if (name === 'tokenDelivery' && textsOf('kind')?.[0] === 'native') return 'code';
    const others = isEntry ? ['issuer', 'authorizeUrl', 'tokenUrl'] : ['issuer'];
    const hasNone = level === 'providers' && name === 'provider' && others.some(isGiven);
    return hasNone ? undefined : rowAt(level, name).default;
  }

  /** The value of a setting; undefined: it has none, or one with a fault. */
  function parse(name: string): unknown {
    const { repeatable, schema } = rowAt(level, name);
    const otherwise = defaultOf(name);
    const texts = textsOf(name) ?? (otherwise === undefined ? [] : [otherwise]);
    if (texts.length === 0) return undefined;
    if (texts.length > 1 && !repeatable) return void forms.set(name, 'is given more than once');
    const text = texts.join(repeatable === 'lines' ? '\n' : ' ');
    const { success, output, issues } = v.safeParse(schema, text, { abortPipeEarly: true });
    return success ? output : void forms.set(name, messageOf(issues[0]));
  }

  const parsed = namesAt(level).map((name) => [name, parse(name)]);
  const values: ValuesAt<At> = Object.fromEntries(parsed);
  const reporting = { fault, warn, sourceOf, describe, describeGiven };
  return {
    ...{ level, values, entryName, environment, readFile, newFiles, ...reporting },
    effective: (name) => given.effective(name, defaultOf(name)),
    reportForm(name) {
      const message = forms.get(name);
      if (message !== undefined) fault(name, message);
    },
    faultOfEntry: (message) =>
      isEntry
        ? faults.add(`${given.described} ${message}`, map.position)
        : fault('pathName', message),
    require(...required) {
      for (const name of required) if (!isGiven(name)) fault(name, 'is required');
    },
    forbid(forbidden, message) {
      for (const name of forbidden.filter(isGiven)) fault(name, message);
    },
    warnOfUnused(unused, why) {
      for (const name of unused.filter(isGiven)) warn(name, `has no effect${why}`);
    },
    unread(name, message, fix, asFault = message) {
      if (unseen === undefined) return fault(name, asFault);
      const one = new Unseen(`${describe(name)} ${message}`, fix);
      unseen.push(one);
      return one;
    },
  };
}

function messageOf({ message, path }: v.BaseIssue<unknown>): string {
  const [item] = path ?? [];
  return item?.type === 'array' ? numbered(item.key, item.input.length, message) : message;
}
