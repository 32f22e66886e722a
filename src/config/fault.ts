import { closestMatch } from 'leven';
import { ConfigError } from '../failures/start-errors.ts';
import type { Setting } from './settings/setting.ts';

const longestQuoted = 100;

/**
 * Describes a fault to the operator: the setting, its value unless that may be a secret, and what is wrong. The
 * wordings for one value are in `schemas.ts`, `settings/`, `origins/` and `urls.ts`, those for several together in
 * `checks/`.
 */
export function describeFault(
  described: string,
  { secret, unquoted }: Setting,
  [value = '', ...more]: readonly string[],
  message: string,
): string {
  const isQuoted = value !== '' && more.length === 0 && !secret && !unquoted && !mayBeSecret(value);
  return [described, ...(isQuoted ? [quoted(value)] : []), message].join(' ');
}

/** Whether the value may contain a password, or be a secret that was given for the wrong option. */
function mayBeSecret(value: string): boolean {
  const words = value.match(/[\w~+=-]{16,}/g) ?? [];
  const hasDigits = words.some((word) => /\d/.test(word) && /[a-z]/i.test(word));
  // Secrets contain dots and slashes, too. Host names and paths in lower case are no secrets.
  const runs = value.match(/[\w~+=./-]{16,}/g) ?? [];
  const hasBothCases = runs.some((run) => /[A-Z]/.test(run) && /[a-z]/.test(run));
  return value.includes('@') || hasDigits || hasBothCases;
}

/** The value in quotes, on one line, without query and fragment, which may contain secrets. */
function quoted(value: string): string {
  const visible = value.replace(/[?#].*/s, '…');
  const short = visible.length > longestQuoted ? `${visible.slice(0, longestQuoted)}…` : visible;
  // Control and formatting characters could change what a terminal shows.
  return JSON.stringify(short).replaceAll(/[\p{Cc}\p{Cf}]/gu, '\uFFFD');
}

/** The known word that is closest to a mistyped one, or the only one that contains it; undefined if there is none. */
export function findSuggestion(word: string, known: readonly string[]): string | undefined {
  const { length } = word;
  // Half of a short word may be wrong, three letters of a longer one, a quarter of a long one.
  const maxDistance = Math.floor(Math.max(Math.min(3, length / 2), length / 4));
  const [containing, another] = known.filter((one) => `-${one}-`.includes(`-${word}-`));
  const isPartOfOne = containing !== undefined && another === undefined;
  return isPartOfOne ? containing : closestMatch(word, [...known], { maxDistance });
}

/** The end of a sentence about a mistyped word. Empty if no known word is close. */
export const didYouMean = (close: string | undefined): string =>
  close === undefined ? '' : `: did you mean ${close}?`;

/**
 * Finds the entry that a setting names. If there is none, it reports that, and returns the closest entry, which would
 * otherwise be reported as unused as well.
 *
 * @param what a kind of entry, such as `provider`
 */
export function findEntryOrReport(
  name: string,
  known: readonly string[],
  what: string,
  fault: (message: string) => void,
): string | undefined {
  if (known.includes(name)) return name;
  const close = findSuggestion(name, known);
  fault(`names a ${what} that is not configured${didYouMean(close)}`);
  return close;
}

/** A message about one of several values of a setting. It begins with the number of the value. */
export const withItemNumber = (index: number, count: number, message: string): string =>
  count > 1 ? `number ${index + 1} ${message}` : message;

/** A place in a file. Lines and columns count from 1. */
export interface Position {
  readonly line: number;
  readonly column: number;
}

/** Names a place in a file in the form that editors understand: `config.yaml:12:5`. */
export function describePlace(path: string, position: Position | undefined): string {
  return position === undefined ? path : `${path}:${position.line}:${position.column}`;
}

export type PlacedMessages = ReturnType<typeof createPlacedMessages>;

/**
 * Collects texts about the configuration (faults, or warnings), each once, in the order of their places in the file.
 */
export function createPlacedMessages() {
  const places = new Map<string, Position>();
  const inOrder = (): readonly string[] =>
    [...places].sort(([, a], [, b]) => a.line - b.line || a.column - b.column).map(([text]) => text);
  return {
    /** @param position the place in the file. Without one, the text comes first */
    add(text: string, position: Position = { line: 0, column: 0 }): undefined {
      if (!places.has(text)) places.set(text, position);
    },
    inOrder,
    /** @throws {ConfigError} if there are any */
    expectNone(): void {
      if (places.size > 0) throw new ConfigError(inOrder());
    },
  };
}
