import { Agent, type IncomingHttpHeaders, request as send } from 'node:http';

/** What the relay answered. */
export interface Reply {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

/** Visits one relay over connections that are kept. */
export class Visitor {
  readonly #port: number;
  readonly #agent: Agent;

  /** @param connections how many at a time */
  constructor(port: number, connections: number) {
    this.#port = port;
    this.#agent = new Agent({ keepAlive: true, maxSockets: connections });
  }

  /** Sends a GET request; rejects where the connection breaks or `signal` aborts it. */
  get(
    path: string,
    headers: Readonly<Record<string, string>> = {},
    signal?: AbortSignal,
  ): Promise<Reply> {
    return new Promise((resolve, reject) => {
      const fail = (error: NodeJS.ErrnoException) => {
        // The connection was being closed, after being idle for long: any browser asks again.
        const unheard = request.reusedSocket && error.code === 'ECONNRESET' && !signal?.aborted;
        if (unheard) this.get(path, headers, signal).then(resolve, reject);
        else reject(error);
      };
      const request = send({
        host: '127.0.0.1',
        port: this.#port,
        path,
        headers,
        agent: this.#agent,
        ...(signal && { signal }),
      });
      request.on('error', fail);
      request.on('response', (response) => {
        let body = '';
        response.setEncoding('utf8');
        response.on('data', (text) => {
          body += text;
        });
        response.on('error', reject);
        response.on('end', () =>
          resolve({ status: response.statusCode ?? 0, headers: response.headers, body }),
        );
      });
      request.end();
    });
  }

  leave(): void {
    this.#agent.destroy();
  }
}

/** Aborts when the process is told to end: what was seen so far is reported then. */
export function toldToEnd(): AbortSignal {
  const controller = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => controller.abort());
  return controller.signal;
}

/** Does `task` for 0, 1, 2 … below `count`, so many at once, unless `end` aborts. */
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
