import { closestMatch } from 'leven';

/** The known word that is closest to a mistyped one; undefined if none is close. */
export function suggestion(word: string, known: readonly string[]): string | undefined {
  const maxDistance = Math.min(3, Math.floor(word.length / 2));
  return closestMatch(word, [...known], { maxDistance });
}

/** The end of a sentence about a mistyped word. Empty if no known word is close. */
export function didYouMean(close: string | undefined): string {
  return close === undefined ? '' : `: did you mean ${close}?`;
}

/** A message about one of several values of an option, which it names by its number. */
export function numbered(index: number, count: number, message: string): string {
  return count > 1 ? `number ${index + 1} ${message}` : message;
}
