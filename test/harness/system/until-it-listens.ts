/** Tries again as long as the connection is refused: for who says nothing that could be waited for. */
export async function untilItListens<T>(attempt: () => Promise<T>): Promise<T> {
  for (;;) {
    try {
      return await attempt();
    } catch (error) {
      if (Object(error).code !== 'ECONNREFUSED') throw error;
    }
  }
}
