/** How long to measure. */
export interface Pace {
  /** Seconds that each contender is warmed up. */
  readonly warmUp: number;
  /** Seconds of one contender's turn in a round. */
  readonly round: number;
  readonly rounds: number;
  /** Times a workload is done to see what memory it takes. */
  readonly forMemory: number;
}

/** Long enough for the figures to mean something. */
export const full: Pace = { warmUp: 4, round: 1, rounds: 7, forMemory: 100_000 };

/** Long enough to see that everything works. */
export const quick: Pace = { warmUp: 0.1, round: 0.1, rounds: 1, forMemory: 200 };
