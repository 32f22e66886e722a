/** Options that the runtime in the executable needs before it runs any code. */
export const runtimeOptions = [
  // Megabytes for young objects. With the default of 16, a collection takes longer than a request should wait.
  '--max-semi-space-size=4',
  // Threads that compile and collect. Each keeps as much memory as the largest function it compiled needs.
  '--v8-pool-size=1',
  // Without it, SIGUSR1 opens a debugger until the program handles the signal.
  '--disable-sigusr1',
] as const;
