/**
 * Starts a browser, and tries a second time if that fails, because on a busy machine, a browser may die before it runs.
 * Tests are never repeated.
 */
export async function startBrowser<Started>(start: () => Promise<Started>): Promise<Started> {
  return await start().catch(start);
}
