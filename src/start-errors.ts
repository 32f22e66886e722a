/** Thrown with every fault of the configuration, each a line that names the flag and variable. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError';
  readonly faults: readonly string[];

  constructor(faults: readonly string[]) {
    super('the configuration has faults');
    this.faults = faults;
  }
}

/** Thrown when a port cannot be opened; its message is one line for the operator. */
export class ListenError extends Error {
  override readonly name = 'ListenError';
}
