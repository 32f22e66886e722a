/** What the executable tells its runtime that has to be known before the first line runs. */
export const runtimeOptions = [
  // Megabytes for young objects, of which a collection finds nearly all dead. With the usual 16 each
  // one takes longer than a request should wait, and what hangs on dead old objects adds up.
  '--max-semi-space-size=4',
  // Threads that compile and collect. Each keeps the memory of the largest function that it compiled.
  '--v8-pool-size=1',
] as const;
