/** Thrown with every fault of the configuration, each a line that names the flag and variable. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError';
  readonly faults: readonly string[];

  constructor(faults: readonly string[]) {
    super('the configuration has faults');
    this.faults = faults;
  }
}
