// Fewer than the calls to the provider that a relay makes at once.
const mostInFlight = 250;

/**
 * Sends requests at a steady rate, without waiting for earlier answers. If the machine is too slow, the rate
 * is lower.
 *
 * @param rate requests a second
 * @param request rejects if it gets no answer, or an unexpected one
 */
export function loadSteadily(rate: number, request: (index: number) => Promise<void>) {
  const begun = performance.now();
  const requests: Promise<void>[] = [];
  /** The failures of requests that got no answer, or an unexpected answer. */
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
    /** Resolves once so many more requests have been answered, or lost. */
    progress: (more: number) => new Promise<void>((resolve) => watchers.set(resolve, over + more)),
    /** Stops sending, and waits for the answers. `slowest` is in milliseconds, `rate` answers a second. */
    async stop() {
      clearInterval(timer);
      await Promise.all(requests);
      const answered = over - lost.length;
      const seconds = (performance.now() - begun) / 1000;
      return { answered, lost, slowest, rate: answered / seconds };
    },
  };
}
