import * as v from 'valibot';
import type { Option } from './option.ts';
import { type OptionName, type OptionValues, options } from './options.ts';

/** What was given on the command line and in the environment, before anything is checked. */
export interface OptionSources {
  /** What each flag was given, in order. */
  readonly flags: Readonly<Partial<Record<OptionName, readonly string[]>>>;
  readonly environment: Readonly<Record<string, string | undefined>>;
}

/** Takes note of a message about one option. */
export type Report = (name: OptionName, message: string) => void;

/** Whether a flag or a variable sets the option. A variable that is set but empty counts as unset. */
export function sourceOf(
  name: OptionName,
  { flags, environment }: OptionSources,
): 'flag' | 'environment' | undefined {
  if (flags[name] !== undefined) return 'flag';
  return environment[options[name].variable] ? 'environment' : undefined;
}

/** Only one side of each pair can be given. */
const alternatives: readonly (readonly [readonly OptionName[], readonly OptionName[]])[] = [
  [['clientSecret'], ['clientSecretFile']],
  [['issuer'], ['provider', 'providerHost', 'providerTenant']],
];

/**
 * The sources without the variables that a flag makes irrelevant: a flag beats its own variable, and
 * the variables of the options that it is an alternative to.
 */
export function withoutOverruled({ flags, environment }: OptionSources): OptionSources {
  const effective = { ...environment };
  for (const pair of alternatives) {
    const [chosen, ...others] = pair.filter((side) => side.some((name) => flags[name]));
    // With flags on both sides, none beats the other: that is a fault.
    if (chosen === undefined || others.length > 0) continue;
    const overruled = pair.filter((side) => side !== chosen).flat();
    for (const name of overruled) delete effective[options[name].variable];
  }
  return { flags, environment: effective };
}

/**
 * Reads every option from its flag, else its variable, else its default.
 *
 * @returns the values that are well formed; each other one was reported as a fault
 */
export function readOptionValues(sources: OptionSources, fault: Report): OptionValues {
  const values: Partial<Record<OptionName, unknown>> = {};
  for (const name of Object.keys(options) as OptionName[]) {
    const option: Option = options[name];
    const given = sources.flags[name];
    if (given && given.length > 1) {
      fault(name, 'is given more than once');
      continue;
    }
    const raw = given?.[0] ?? (sources.environment[option.variable] || option.default);
    if (raw === undefined) continue;
    const result = v.safeParse(option.schema, raw, { abortPipeEarly: true });
    if (result.success) values[name] = result.output;
    else fault(name, result.issues[0].message);
  }
  return values as OptionValues;
}
