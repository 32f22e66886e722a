import { closestMatch } from 'leven';
import { ConfigError } from '../failures/start-errors.ts';
import type { Setting } from './settings/setting.ts';

const longest = 100;

/**
 * Describes a fault for the operator: the setting, its value, and what is wrong with it. The value is left out if it
 * is a secret or may contain one.
 *
 * @param texts what the setting was given
 */
export function describeFault(
  described: string,
  { secret, unquoted }: Setting,
  [value = '', ...more]: readonly string[],
  message: string,
): string {
  const isQuoted = value !== '' && more.length === 0 && !secret && !unquoted && !maybeSecret(value);
  return [described, ...(isQuoted ? [quoted(value)] : []), message].join(' ');
}

/** Whether the value may contain a password, or be a secret that was given for the wrong option. */
function maybeSecret(value: string): boolean {
  const words = value.match(/[\w~+=-]{16,}/g) ?? [];
  const mixed = words.some((word) => /\d/.test(word) && /[a-z]/i.test(word));
  // Dots and slashes are in secrets too. Host names and paths in lower case are not secrets.
  const longer = value.match(/[\w~+=./-]{16,}/g) ?? [];
  return (
    value.includes('@') || mixed || longer.some((run) => /[A-Z]/.test(run) && /[a-z]/.test(run))
  );
}

/** The value in quotes, on one line, without a query or fragment: both can carry secrets. */
function quoted(value: string): string {
  const visible = value.replace(/[?#].*/s, '…');
  const short = visible.length > longest ? `${visible.slice(0, longest)}…` : visible;
  // Control and formatting characters could change what a terminal shows.
  return JSON.stringify(short).replaceAll(/[\p{Cc}\p{Cf}]/gu, '\uFFFD');
}

/** The known word that is closest to a mistyped one, or the only one that it is a part of; undefined if there is none. */
export function suggestion(word: string, known: readonly string[]): string | undefined {
  const { length } = word;
  const maxDistance = Math.floor(Math.max(Math.min(3, length / 2), length / 4));
  const [whole, another] = known.filter((one) => `-${one}-`.includes(`-${word}-`));
  const isPart = whole !== undefined && another === undefined;
  return isPart ? whole : closestMatch(word, [...known], { maxDistance });
}

/** The end of a sentence about a mistyped word. Empty if no known word is close. */
export function didYouMean(close: string | undefined): string {
  return close === undefined ? '' : `: did you mean ${close}?`;
}

/**
 * The entry that a setting names, or means: one that is misspelt may be reported as unused, too, otherwise.
 *
 * @param what a kind of entry, such as `provider`
 * @param fault reports that it is misspelt
 */
export function entryNamed(
  name: string,
  known: readonly string[],
  what: string,
  fault: (message: string) => void,
): string | undefined {
  if (known.includes(name)) return name;
  const close = suggestion(name, known);
  fault(`names a ${what} that is not configured${didYouMean(close)}`);
  return close;
}

/** A message about one of several values of an option, which it names by its number. */
export function numbered(index: number, count: number, message: string): string {
  return count > 1 ? `number ${index + 1} ${message}` : message;
}

/** A place in a file. Lines and columns count from 1. */
export interface Position {
  readonly line: number;
  readonly column: number;
}

/** Names a place in a file for people, as editors understand it: `config.yaml:12:5`. */
export function describePlace(path: string, position: Position | undefined): string {
  return position === undefined ? path : `${path}:${position.line}:${position.column}`;
}

/** Faults or warnings, each once. */
export type PlacedTexts = ReturnType<typeof placedTexts>;

export function placedTexts() {
  const places = new Map<string, Position>();
  /** In the order of the file, after those that are about no place in it. */
  const inOrder = (): readonly string[] =>
    [...places]
      .sort(([, a], [, b]) => a.line - b.line || a.column - b.column)
      .map(([text]) => text);
  return {
    /** @param position the place in the file that the text is about, if it is about one */
    add(text: string, position: Position = { line: 0, column: 0 }): undefined {
      if (!places.has(text)) places.set(text, position);
    },
    inOrder,
    /** @throws {ConfigError} if there are any */
    throwIfAny(): void {
      if (places.size > 0) throw new ConfigError(inOrder());
    },
  };
}
