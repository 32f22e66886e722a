/** How long to measure. */
export interface Pace {
  /** Compilers take their time with big libraries. */
  readonly warmUp: Turns;
  readonly cost: Turns;
  /** At a fixed rate. */
  readonly latency: Turns;
  /** Times that a workload is done, and done again, to see what memory it takes. */
  readonly forMemory: number;
}

/** All contenders one after the other, so many rounds. */
interface Turns {
  /** Seconds of one contender's turn. */
  readonly round: number;
  readonly rounds: number;
}

/** Long enough for the figures to mean something: up to six minutes an experiment. */
export const full: Pace = {
  warmUp: { round: 2, rounds: 8 },
  cost: { round: 0.5, rounds: 9 },
  latency: { round: 1, rounds: 5 },
  // Ten requests in nine turns.
  forMemory: 90_000,
};

/** Long enough to see that everything works. */
export const quick: Pace = {
  warmUp: { round: 0, rounds: 0 },
  cost: { round: 0.05, rounds: 1 },
  latency: { round: 0.1, rounds: 1 },
  forMemory: 100,
};
