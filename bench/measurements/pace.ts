/** How long to measure. */
export interface Pace {
  /** Seconds that each contender is warmed up: compilers take their time with big libraries. */
  readonly warmUp: number;
  /** Seconds of one contender's turn in a round. */
  readonly round: number;
  readonly rounds: number;
  /** Seconds of a turn, and rounds, at a fixed rate. */
  readonly latency: { readonly round: number; readonly rounds: number };
  /** Times that a workload is done, and done again, to see what memory it takes. */
  readonly forMemory: number;
}

/** Long enough for the figures to mean something: up to four minutes an experiment. */
export const full: Pace = {
  warmUp: 8,
  round: 0.5,
  rounds: 9,
  latency: { round: 1, rounds: 5 },
  // Ten requests in nine turns.
  forMemory: 90_000,
};

/** Long enough to see that everything works. */
export const quick: Pace = {
  warmUp: 0,
  round: 0.05,
  rounds: 1,
  latency: { round: 0.1, rounds: 1 },
  forMemory: 100,
};
