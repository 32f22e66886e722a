import { closestMatch } from 'leven';
import { ConfigError } from '../failures/start-errors.ts';
import type { Setting } from './settings/setting.ts';

const longestQuoted = 100;

/**
 * Describes a fault to the operator: the setting, its value unless that may be a secret, and what is wrong. The
 * wordings for one value are in `schemas.ts`, `settings/`, `origins/` and `urls.ts`, those for several together in
 * `checks/`.
 *
 * @param described the setting and its place, as `describeSetting` names them
 * @param message completes a sentence that begins with the setting
 */
export function describeFault(
  described: string,
  { secret, unquoted }: Setting,
  [value = '', ...others]: readonly string[],
  message: string,
): string {
  const isQuotable = value !== '' && others.length === 0 && !secret && !unquoted && !mayBeSecret(value);
  return isQuotable ? `${described} ${quote(value)} ${message}` : `${described} ${message}`;
}

/** Whether the value may contain a password, or be a secret that was given for the wrong option. */
function mayBeSecret(value: string): boolean {
  const longWords = value.match(/[\w~+=-]{16,}/g) ?? [];
  const hasDigitsAndLetters = longWords.some((word) => /\d/.test(word) && /[a-z]/i.test(word));
  // Some secrets contain dots and slashes. Host names and paths in lower case are no secrets.
  const longWordsWithDots = value.match(/[\w~+=./-]{16,}/g) ?? [];
  const hasBothCases = longWordsWithDots.some((word) => /[A-Z]/.test(word) && /[a-z]/.test(word));
  return value.includes('@') || hasDigitsAndLetters || hasBothCases;
}

/** Quotes a value on one line, without its query and fragment, which may contain secrets. */
function quote(value: string): string {
  const visible = value.replace(/[?#].*/s, '…');
  const short = visible.length > longestQuoted ? `${visible.slice(0, longestQuoted)}…` : visible;
  // Control and formatting characters could change what a terminal shows.
  return JSON.stringify(short).replaceAll(/[\p{Cc}\p{Cf}]/gu, '\uFFFD');
}

/** Finds the known word that a mistyped word probably means: the closest one, or the only one that contains it. */
export function findSuggestion(word: string, known: readonly string[]): string | undefined {
  const { length } = word;
  // Half of a short word may be wrong, three letters of a longer one, a quarter of a long one.
  const maxDistance = Math.floor(Math.max(Math.min(3, length / 2), length / 4));
  const containing = known.filter((candidate) => `-${candidate}-`.includes(`-${word}-`));
  return containing.length === 1 ? containing[0] : closestMatch(word, [...known], { maxDistance });
}

/** The end of a sentence about a mistyped word. Empty if no known word is close. */
export const didYouMean = (close: string | undefined): string =>
  close === undefined ? '' : `: did you mean ${close}?`;

/**
 * Finds the entry that a setting names. An unknown name is reported. The closest entry then counts as named, so that it
 * is not reported as unused as well.
 *
 * @param kind a kind of entry, such as `provider`
 */
export function findEntryOrReport(
  name: string,
  known: readonly string[],
  kind: string,
  report: (message: string) => void,
): string | undefined {
  if (known.includes(name)) return name;
  const close = findSuggestion(name, known);
  report(`names a ${kind} that is not configured${didYouMean(close)}`);
  return close;
}

/** Begins a message with the number of the value that it concerns, if a setting has several. */
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

/** Collects the faults or warnings of a configuration, each once, in the order of their places in the file. */
export function createPlacedMessages() {
  const places = new Map<string, Position>();
  const inOrder = (): readonly string[] =>
    [...places].sort(([, a], [, b]) => a.line - b.line || a.column - b.column).map(([message]) => message);
  return {
    /** @param position the place in the file. A message without a place comes first */
    add(message: string, position: Position = { line: 0, column: 0 }): undefined {
      if (!places.has(message)) places.set(message, position);
    },
    inOrder,
    /** @throws {ConfigError} if there are any */
    expectNone(): void {
      if (places.size > 0) throw new ConfigError(inOrder());
    },
  };
}
