import { type OptionName, options, type SettingName } from './settings/settings.ts';

/** The flags and the variables as given, unchecked. */
export interface OptionSources {
  /** The values of each flag, in order. */
  readonly flags: Readonly<Partial<Record<OptionName, readonly string[]>>>;
  readonly environment: Readonly<Record<string, string | undefined>>;
}

/** What gives a setting its value. */
export interface Given {
  readonly source: 'flag' | 'environment' | 'file';
  /** None: it has a fault of form, which was reported. */
  readonly texts: readonly string[];
}

/** Options that exclude each other: only one side of each pair can be set. */
const alternatives: readonly (readonly [readonly OptionName[], readonly OptionName[]])[] = [
  [['clientSecret'], ['clientSecretFile']],
  [['issuer'], ['provider', 'providerHost', 'providerTenant']],
];

/** Whether a flag overrides the option's variable, because it excludes the option. Flags on both sides are a fault. */
function isOverruled(name: OptionName, flags: OptionSources['flags']): boolean {
  const isGiven = (side: readonly OptionName[]) => side.some((one) => flags[one] !== undefined);
  return alternatives.some(
    ([one, other]) =>
      (one.includes(name) && isGiven(other) && !isGiven(one)) ||
      (other.includes(name) && isGiven(one) && !isGiven(other)),
  );
}

/**
 * What gives an option its value, besides a file: its flag, else its variable. A variable that is set but empty counts
 * as unset.
 */
export function givenBySources(
  name: SettingName,
  { flags, environment }: OptionSources,
): Given | undefined {
  if (!isOption(name)) return undefined;
  const texts = flags[name];
  if (texts !== undefined) return { source: 'flag', texts };
  const text = isOverruled(name, flags) ? undefined : environment[options[name].variable];
  return text ? { source: 'environment', texts: [text] } : undefined;
}

function isOption(name: SettingName): name is OptionName {
  return name in options;
}
