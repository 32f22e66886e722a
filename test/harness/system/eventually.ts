/**
 * Repeats `attempt` until it succeeds. After two minutes it gives up with the last error.
 *
 * @param pause milliseconds between two attempts
 */
export async function eventually<T>(attempt: () => Promise<T>, pause = 10): Promise<T> {
  const deadline = performance.now() + 120_000;
  for (;;) {
    try {
      return await attempt();
    } catch (error) {
      if (performance.now() > deadline) throw error;
      await new Promise((resolve) => setTimeout(resolve, pause));
    }
  }
}
