/** Thrown when a worker ended before it listened; its message is one line for the operator. */
export class WorkerError extends Error {
  override readonly name = 'WorkerError';

  /** @param ending how it ended: `exit code 1`, `SIGKILL` */
  constructor(ending: string) {
    super(`a worker ended while it started: ${ending}`);
  }
}
