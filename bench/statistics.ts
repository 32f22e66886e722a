/** The middle of several rounds, and how far they lie apart. */
export interface Spread {
  readonly median: number;
  readonly least: number;
  readonly most: number;
}

export function spread(numbers: readonly number[]): Spread {
  return {
    median: percentile(numbers, 50),
    least: Math.min(...numbers),
    most: Math.max(...numbers),
  };
}

/** @param share 0 to 100 */
export function percentile(numbers: readonly number[], share: number): number {
  const sorted = numbers.toSorted((a, b) => a - b);
  const index = Math.min(sorted.length - 1, Math.floor((sorted.length * share) / 100));
  return sorted[index] ?? Number.NaN;
}
