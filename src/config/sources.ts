import { isMissingFile, type ReadFile } from '../text-files.ts';
import { splitPassword } from './secret-variables.ts';
import type { Option } from './settings/setting.ts';
import { type OptionName, options } from './settings/settings.ts';

/** Flags and variables as given, unchecked. */
export interface OptionSources {
  readonly flags: Readonly<Partial<Record<OptionName, readonly string[]>>>;
  readonly environment: Readonly<Record<string, string | undefined>>;
}

export interface GivenOption {
  readonly source: 'flag' | 'environment';
  readonly texts: readonly string[];
}

const rows: Readonly<Record<string, Option>> = options;
const excludedBy = (name: string) => rows[name]?.excludes ?? [];

/**
 * Whether a flag excludes an option, so that its variable does not count: with `--issuer`, the variable of a token URL
 * does not. Flags on both sides are a fault instead.
 */
function isOverruled(name: OptionName, flags: Readonly<Record<string, unknown>>): boolean {
  const isGiven = (one: string) => flags[one] !== undefined;
  const otherSide = excludedBy(name);
  const ownSide = otherSide.flatMap(excludedBy);
  return otherSide.some(isGiven) && !ownSide.some(isGiven);
}

/** The value of an option besides the file: its flag, else its variable. An empty variable counts as unset. */
export function findGivenOption(name: OptionName, sources: OptionSources): GivenOption | undefined {
  const { flags, environment } = sources;
  const texts = flags[name];
  if (texts !== undefined) return { source: 'flag', texts };
  const text = isOverruled(name, flags) ? undefined : environment[options[name].variable];
  if (!text) return undefined;
  // The address is shown, so its password is read separately.
  const { address = text } = (name === 'sharedMemory' && splitPassword(text)) || {};
  return { source: 'environment', texts: [address] };
}

const packagedFile = '/etc/login-relay/config.yaml';

/**
 * The sources for commands that examine a configuration: without any option, the file of the packaged service.
 *
 * @returns `why`: an explanation if it is that file
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
 * Whether no option is given. An empty variable counts as not set, except the one for the file: it says that there is
 * none.
 */
function hasNoOption({ flags, environment }: OptionSources): boolean {
  const { config, ...others } = options;
  if (environment[config.variable] !== undefined || Object.keys(flags).length > 0) return false;
  return Object.values(others).every(({ variable }) => !environment[variable]);
}
