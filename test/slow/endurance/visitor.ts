import { Agent } from 'node:http';
import { type Answer, request } from '../../harness/client/request.ts';

/** A client of one relay with keep-alive connections. */
export class Visitor {
  readonly #port: number;
  readonly #agent: Agent;

  /** @param connections how many at a time */
  constructor(port: number, connections: number) {
    this.#port = port;
    this.#agent = new Agent({ keepAlive: true, maxSockets: connections });
  }

  /** Sends a GET request. Rejects if the connection breaks or `signal` aborts it. */
  async get(
    path: string,
    headers: Readonly<Record<string, string>> = {},
    signal?: AbortSignal,
  ): Promise<Answer> {
    return await request(this.#port, {
      path,
      headers: Object.entries(headers),
      agent: this.#agent,
      repeatable: true,
      ...(signal && { signal }),
    });
  }

  leave(): void {
    this.#agent.destroy();
  }
}

/** Aborts when the process gets a signal to stop. The results so far are reported then. */
export function toldToEnd(): AbortSignal {
  const controller = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => controller.abort());
  return controller.signal;
}

/** Runs `task` for 0, 1, 2 … below `count`, so many at once, until `end` aborts. */
export async function manyAtOnce(
  count: number,
  atOnce: number,
  task: (index: number) => Promise<void>,
  end: AbortSignal,
): Promise<void> {
  let next = 0;
  const worker = async () => {
    for (let index = next++; index < count && !end.aborted; index = next++) await task(index);
  };
  await Promise.all(Array.from({ length: atOnce }, worker));
}
