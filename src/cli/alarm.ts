/** Something to wait for that may happen many times. */
export class Alarm {
  #pending = Promise.withResolvers<undefined>();

  /** Ends the current wait, or else the next one. */
  readonly raise = (): void => this.#pending.resolve(undefined);

  /** Resolves after the alarm was raised since the last wait, however often. */
  async raised(): Promise<undefined> {
    await this.#pending.promise;
    this.#pending = Promise.withResolvers();
  }
}
