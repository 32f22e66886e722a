/** Faults of the configuration. Each is one line that names the setting. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError';
  readonly faults: readonly string[];

  constructor(faults: readonly string[]) {
    super('the configuration has faults');
    this.faults = faults;
  }
}

/** The relay cannot open a port. The message is one line for the operator. */
export class ListenError extends Error {
  override readonly name = 'ListenError';
}
