import * as v from 'valibot';
import { numbered, type Option } from './option.ts';
import { type OptionName, type OptionValues, options } from './options.ts';

/** The flags, the variables and the settings of a file as given, unchecked. */
export interface OptionSources {
  /** The values of each flag, in order. */
  readonly flags: Readonly<Partial<Record<OptionName, readonly string[]>>>;
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** What a file gives each option, as its flag would. No texts: that has a fault, which was reported. */
  readonly inFile?: Readonly<Partial<Record<OptionName, readonly string[]>>>;
}

/** What can set an option, besides its default. */
export type OptionSource = 'flag' | 'environment' | 'file';

/** Reports a message about one option. */
export type Report = (name: OptionName, message: string) => void;

/** What sets the option. A variable that is set but empty counts as unset. */
export function sourceOf(
  name: OptionName,
  { flags, environment, inFile }: OptionSources,
): OptionSource | undefined {
  if (flags[name] !== undefined) return 'flag';
  if (environment[options[name].variable]) return 'environment';
  return inFile?.[name] === undefined ? undefined : 'file';
}

/** The texts that an option was given: from its flag, else its variable, else the file. */
export function textsOf(
  name: OptionName,
  { flags, environment, inFile }: OptionSources,
): readonly string[] | undefined {
  const variable = environment[options[name].variable];
  return flags[name] ?? (variable ? [variable] : inFile?.[name]);
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
 * The text that an option was given, or its default. The values of a repeatable flag are joined by
 * spaces, as in its variable.
 */
export function rawValue(name: OptionName, sources: OptionSources): string | undefined {
  const option: Option = options[name];
  return textsOf(name, sources)?.join(' ') ?? option.default;
}

/**
 * Reads every option from its flag, else its variable, else the file, else its default.
 *
 * @returns the well-formed values; the others were reported as faults
 */
export function readOptionValues(sources: OptionSources, fault: Report): OptionValues {
  const values: Partial<Record<OptionName, unknown>> = {};
  for (const name of Object.keys(options) as OptionName[]) {
    const option: Option = options[name];
    const given = sources.flags[name] ?? [];
    if (given.length > 1 && !option.repeatable) {
      fault(name, 'is given more than once');
      continue;
    }
    if (textsOf(name, sources)?.length === 0) continue;
    const raw = rawValue(name, sources);
    if (raw === undefined) continue;
    const result = v.safeParse(option.schema, raw, { abortPipeEarly: true });
    if (result.success) values[name] = result.output;
    else fault(name, messageOf(result.issues[0]));
  }
  return values as OptionValues;
}

function messageOf({ message, path }: v.BaseIssue<unknown>): string {
  const [item] = path ?? [];
  return item?.type === 'array' ? numbered(item.key, item.input.length, message) : message;
}
