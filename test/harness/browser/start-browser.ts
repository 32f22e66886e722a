/** Starts a browser, and once more if that fails: on a busy machine, it may die before it runs. Tests never repeat. */
export async function startBrowser<Started>(start: () => Promise<Started>): Promise<Started> {
  return await start().catch(start);
}
