/** A steady flow of requests. */
interface SteadyLoad {
  /** Resolves once so many more requests have been answered, or lost. */
  progress(requests: number): Promise<void>;
  /** Stops sending, and waits for the answers. */
  stop(): Promise<LoadResult>;
}

/** The result of a steady load. */
interface LoadResult {
  readonly answered: number;
  /** The failures of the other requests. */
  readonly lost: readonly string[];
  /** The time of the slowest answer, in milliseconds. */
  readonly slowest: number;
  /** Answers a second. */
  readonly rate: number;
}

// Fewer than the calls to the provider that a relay makes at once.
const mostInFlight = 250;

/**
 * Sends requests at a steady rate, without waiting for earlier answers. If the machine is too slow, the rate
 * is lower.
 *
 * @param rate requests a second
 * @param request rejects if it gets no answer, or an unexpected one
 */
export function loadSteadily(rate: number, request: (index: number) => Promise<void>): SteadyLoad {
  const begun = performance.now();
  const requests: Promise<void>[] = [];
  const lost: string[] = [];
  const watchers = new Map<() => void, number>();
  let over = 0;
  let slowest = 0;
  const timer = setInterval(() => {
    const due = ((performance.now() - begun) / 1000) * rate;
    while (requests.length < due && requests.length - over < mostInFlight) {
      requests.push(measured(requests.length));
    }
  }, 1);

  async function measured(index: number): Promise<void> {
    const sent = performance.now();
    await request(index).catch((error) => lost.push(`request ${index}: ${error}`));
    slowest = Math.max(slowest, performance.now() - sent);
    over += 1;
    for (const [resolve, target] of watchers) {
      if (over >= target && watchers.delete(resolve)) resolve();
    }
  }

  return {
    progress: (more) => new Promise((resolve) => watchers.set(resolve, over + more)),
    async stop() {
      clearInterval(timer);
      await Promise.all(requests);
      const answered = over - lost.length;
      const seconds = (performance.now() - begun) / 1000;
      return { answered, lost, slowest, rate: answered / seconds };
    },
  };
}
