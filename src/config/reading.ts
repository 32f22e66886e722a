import type { OptionSource } from './option-values.ts';
import type { OptionName, OptionValues } from './options.ts';
import type { NewFiles, ReadFile } from './secret-file.ts';

/** One reading of the configuration: what was given, and where faults and warnings go. */
export interface Reading {
  /** The values that are well formed. */
  readonly values: OptionValues;
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly readFile: ReadFile;
  /** Undefined: a missing file is a fault. */
  readonly newFiles: NewFiles | undefined;
  /** What sets the setting; undefined: its default applies. */
  sourceOf(setting: OptionName): OptionSource | undefined;
  /** Names a setting for people, as in `--origin (FRONTEND_ORIGIN)`. */
  describe(setting: OptionName): string;
  /** The same without its place in a file, if it is not there yet. */
  describeMissing(setting: OptionName): string;
  /** Reports a fault. The message completes a sentence that begins with the setting. */
  fault(setting: OptionName, message: string): void;
  /** Reports what works but should be fixed. */
  warn(setting: OptionName, message: string): void;
  /**
   * Reports what only the relay's own user or service can read. The setting then gets a stand-in.
   * Undefined: that is a fault.
   *
   * @param fix what to do about it
   */
  readonly unseen: ((setting: OptionName, message: string, fix: string) => void) | undefined;
}

/** What this command cannot read, but the relay may. */
export interface Unseen {
  readonly message: string;
  readonly fix: string;
}

/** Names the settings of one login for people, and says what sets them. */
export type Naming = Pick<Reading, 'describe' | 'sourceOf'>;

/**
 * Asserts that a value is there, after all faults were reported.
 *
 * @throws {Error} if a fault was not reported
 */
export function checked<Value>(value: Value | undefined): Value {
  if (value === undefined) throw new Error('a value is missing, but no fault was reported');
  return value;
}

/** Reports a parameter in a URL's query that the relay itself adds: it must not be there twice. */
export function reportOwnParameters(
  { values, fault }: Reading,
  setting: 'authorizeUrl' | 'tokenUrl' | 'userUrl' | 'revocationUrl' | 'frontendUrl',
  parameters: readonly string[],
): void {
  const query = values[setting]?.searchParams;
  const taken = parameters.find((parameter) => query?.has(parameter));
  if (taken) fault(setting, `must not have ${taken} in its query: the relay adds it`);
}
