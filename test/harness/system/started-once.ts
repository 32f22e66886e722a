/**
 * Starts something once for the `describe` that this is called in.
 *
 * @param what its name, for hooks and errors
 */
export function startedOnce<Thing>(
  what: string,
  start: () => Promise<Thing>,
  stop: (thing: Thing) => Promise<unknown>,
): () => Thing {
  let thing: Thing | undefined;
  before(`start ${what}`, async () => {
    thing = await start();
  });
  after(`stop ${what}`, async () => thing !== undefined && (await stop(thing)));
  return () => {
    if (thing === undefined) throw new Error(`${what} has not started`);
    return thing;
  };
}
