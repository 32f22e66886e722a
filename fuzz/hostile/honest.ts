import { once } from 'node:events';
import { Worker } from 'node:worker_threads';

/** What a client saw that asks every few milliseconds, while somebody else attacks. */
interface Observation {
  readonly requests: number;
  /** What it got in place of an answer it can use. */
  readonly refused: readonly string[];
  /** The 99th percentile of its latencies, in milliseconds. */
  readonly p99: number;
}

/** A client that means no harm. */
export interface HonestClient {
  /** What it saw since it was last asked. */
  observe(): Promise<Observation>;
  stop(): Promise<void>;
}

/** Starts one that logs in and looks users up at the port, in turns. */
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
