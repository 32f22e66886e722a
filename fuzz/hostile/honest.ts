import { once } from 'node:events';
import { Worker } from 'node:worker_threads';

/** The service to a client that sends a request every few milliseconds during an attack. */
interface Observation {
  readonly requests: number;
  /** The wrong or missing answers. */
  readonly refused: readonly string[];
  /** The 99th percentile of its latencies, in milliseconds. */
  readonly p99: number;
}

/** An honest client. */
export interface HonestClient {
  /** The service since the last call. */
  observe(): Promise<Observation>;
  stop(): Promise<void>;
}

/** Starts a client that logs in and looks up users at the port, in turn. */
export function startHonestClient(port: number): HonestClient {
  const worker = new Worker(new URL('./honest-client.ts', import.meta.url), {
    workerData: { port },
  });
  return {
    async observe() {
      worker.postMessage('observe');
      const [{ latencies, refused }] = await once(worker, 'message');
      const sorted: number[] = latencies.toSorted((a: number, b: number) => a - b);
      const p99 = sorted[Math.floor(sorted.length * 0.99)] ?? 0;
      return { requests: sorted.length, refused, p99 };
    },
    async stop() {
      await worker.terminate();
    },
  };
}
