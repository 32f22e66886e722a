import * as v from 'valibot';
import type { FileEntry } from './file/config-file.ts';
import type { Option } from './settings/setting.ts';
import { type OptionName, type OptionValues, options } from './settings/settings.ts';
import { numbered } from './suggestion.ts';

/** The flags, the variables and the settings of a file as given, unchecked. */
export interface OptionSources {
  /** The values of each flag, in order. */
  readonly flags: Readonly<Partial<Record<OptionName, readonly string[]>>>;
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** What a file gives the relay, as flags would. No texts: that has a fault, which was reported. */
  readonly inFile?: FileEntry['values'] | undefined;
  /** The entry of a file in place of flags and variables, for settings that the relay as a whole does not have. */
  readonly entry?: FileEntry | undefined;
}

/** What can set an option, besides its default. */
export type OptionSource = 'flag' | 'environment' | 'file';

function givenOf(
  name: OptionName,
  { flags, environment, inFile, entry }: OptionSources,
): { readonly source: OptionSource; readonly texts: readonly string[] | undefined } {
  const { level, variable }: Option = options[name];
  if (entry !== undefined && level !== 'relay') {
    return { source: 'file', texts: entry.values[name] };
  }
  const text = environment[variable];
  if (flags[name] !== undefined) return { source: 'flag', texts: flags[name] };
  // A variable that is set but empty counts as unset.
  return text
    ? { source: 'environment', texts: [text] }
    : { source: 'file', texts: inFile?.[name] };
}

/** What sets the option. */
export function sourceOf(name: OptionName, sources: OptionSources): OptionSource | undefined {
  const { source, texts } = givenOf(name, sources);
  return texts && source;
}

/** The texts that an option was given: from its flag, else its variable, else the file. */
export function textsOf(name: OptionName, sources: OptionSources): readonly string[] | undefined {
  return givenOf(name, sources).texts;
}

/** The text that an option was given, or its default. */
export function rawValue(name: OptionName, sources: OptionSources): string | undefined {
  const option: Option = options[name];
  return textsOf(name, sources)?.join(' ') ?? option.default;
}

/** Options that exclude each other: only one side of each pair can be set. */
const alternatives: readonly (readonly [readonly OptionName[], readonly OptionName[]])[] = [
  [['clientSecret'], ['clientSecretFile']],
  [['issuer'], ['provider', 'providerHost', 'providerTenant']],
];

/**
 * Removes the variables that a flag overrides: the flag's own variable, and those of the options that
 * the flag excludes.
 */
export function withoutOverruled<Sources extends OptionSources>(sources: Sources): Sources {
  const { flags, environment } = sources;
  const effective = { ...environment };
  for (const pair of alternatives) {
    const [chosen, ...others] = pair.filter((side) => side.some((name) => flags[name]));
    // Flags on both sides are a fault.
    if (chosen === undefined || others.length > 0) continue;
    const overruled = pair.filter((side) => side !== chosen).flat();
    for (const name of overruled) delete effective[options[name].variable];
  }
  return { ...sources, environment: effective };
}

/**
 * Parses every setting.
 *
 * @returns the well-formed values; the others were reported as faults
 */
export function readValues(
  sources: OptionSources,
  fault: (name: OptionName, message: string) => void,
): OptionValues {
  const values: Partial<Record<OptionName, unknown>> = {};
  for (const name of Object.keys(options) as OptionName[]) {
    const { repeatable, schema, default: otherwise }: Option = options[name];
    const texts = textsOf(name, sources) ?? (otherwise === undefined ? [] : [otherwise]);
    if (texts.length === 0) continue;
    if (texts.length > 1 && !repeatable) {
      fault(name, 'is given more than once');
      continue;
    }
    const result = v.safeParse(schema, texts.join(' '), { abortPipeEarly: true });
    if (result.success) values[name] = result.output;
    else fault(name, messageOf(result.issues[0]));
  }
  return values as OptionValues;
}

function messageOf({ message, path }: v.BaseIssue<unknown>): string {
  const [item] = path ?? [];
  return item?.type === 'array' ? numbered(item.key, item.input.length, message) : message;
}
