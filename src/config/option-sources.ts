import { isMissingFile, type ReadFile } from '../text-files.ts';
import { splitPassword } from './secret-variables.ts';
import type { Option } from './settings/setting.ts';
import { type OptionName, options } from './settings/settings.ts';

/** The flags and environment variables of a command, unchecked. */
export interface OptionSources {
  readonly flags: Readonly<Partial<Record<OptionName, readonly string[]>>>;
  readonly environment: Readonly<Record<string, string | undefined>>;
}

/** The texts of an option, and what gave them. Only a flag can be repeated. */
export interface GivenOption {
  readonly source: 'flag' | 'environment';
  readonly texts: readonly string[];
}

const rows: Readonly<Record<string, Option>> = options;
/** The options that cannot be given together with this one. */
const exclusionsOf = (name: string): readonly string[] => rows[name]?.excludes ?? [];

/**
 * Whether the variable of an option does not count, because a flag excludes the option: with `--issuer`, the variable
 * `PROVIDER` does not. Flags on both sides are a fault instead.
 */
function isVariableOverruled(name: OptionName, flags: Readonly<Record<string, unknown>>): boolean {
  const isFlagGiven = (option: string) => flags[option] !== undefined;
  const excluded = exclusionsOf(name);
  // The options on the same side exclude the same options: for `provider`, also `providerHost`.
  const sameSide = excluded.flatMap(exclusionsOf);
  return excluded.some(isFlagGiven) && !sameSide.some(isFlagGiven);
}

/** The flag of an option, else its variable; undefined if neither is given. An empty variable counts as unset. */
export function findGivenOption(name: OptionName, { flags, environment }: OptionSources): GivenOption | undefined {
  const texts = flags[name];
  if (texts !== undefined) return { source: 'flag', texts };
  const text = environment[options[name].variable];
  if (!text || isVariableOverruled(name, flags)) return undefined;
  // Logs and `config print` show the address, so it must not contain its password, which is read separately.
  const address = name === 'sharedMemory' ? splitPassword(text)?.address : undefined;
  return { source: 'environment', texts: [address ?? text] };
}

const packagedFile = '/etc/login-relay/config.yaml';

/**
 * Chooses what commands that examine a configuration read: without any option, the file of the packaged service.
 *
 * @returns `why` explains the choice of that file
 */
export function chooseSources(
  given: OptionSources,
  readFile: ReadFile,
): { readonly sources: OptionSources; readonly why?: string } {
  if (!hasNoOption(given) || isMissingFile(packagedFile, readFile)) return { sources: given };
  const sources: OptionSources = { ...given, flags: { config: [packagedFile] } };
  return { sources, why: `${packagedFile} is read, since no option is given` };
}

/**
 * Whether no option is given. An empty variable counts as unset, except an empty `LOGIN_RELAY_CONFIG`, which says that
 * there is no file.
 */
function hasNoOption({ flags, environment }: OptionSources): boolean {
  const { config, ...others } = options;
  if (environment[config.variable] !== undefined || Object.keys(flags).length > 0) return false;
  return Object.values(others).every(({ variable }) => !environment[variable]);
}
