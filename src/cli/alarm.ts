/** An event that can occur again and again, and that one caller waits for. */
export class Alarm {
  #pending = Promise.withResolvers<undefined>();

  /** Ends the current wait. If there is none, ends the next one at once. */
  readonly raise = (): void => this.#pending.resolve(undefined);

  /** Resolves once the alarm is raised. Alarms that were raised since the last wait count as one. */
  async raised(): Promise<undefined> {
    await this.#pending.promise;
    this.#pending = Promise.withResolvers();
  }
}
