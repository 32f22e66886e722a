/** Something to wait for that may happen many times. */
export class Alarm {
  #pending = Promise.withResolvers<undefined>();

  /** Ends the current wait, or the next one if nobody waits. */
  readonly raise = (): void => this.#pending.resolve(undefined);

  /** Resolves after the alarm was raised since the last wait, however often. */
  async raised(): Promise<undefined> {
    await this.#pending.promise;
    this.#pending = Promise.withResolvers();
  }
}
