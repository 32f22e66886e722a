import { once } from 'node:events';
import { type Agent, get } from 'node:http';

/** One request that was made and answered. */
export interface Sample {
  /** When it was made, in milliseconds since the process began. */
  readonly sent: number;
  /** Milliseconds until its answer began. */
  readonly latency: number;
  /** 0 where there was no answer. */
  readonly status: number;
}

/** Makes one request. */
export async function sample(
  url: string,
  agent: Agent,
  headers: Readonly<Record<string, string>> = {},
): Promise<Sample> {
  const sent = performance.now();
  try {
    const [response] = await once(get(url, { agent, headers }), 'response');
    const latency = performance.now() - sent;
    response.resume();
    await once(response, 'end');
    return { sent, latency, status: response.statusCode };
  } catch {
    return { sent, latency: performance.now() - sent, status: 0 };
  }
}

/**
 * Makes requests at a steady rate until it is stopped, whether or not earlier ones were answered.
 *
 * @param rate requests a second
 * @returns stops, waits for what is in flight, and tells of all
 */
export function openLoop(rate: number, request: () => Promise<Sample>): () => Promise<Sample[]> {
  const begun = performance.now();
  const samples: Promise<Sample>[] = [];
  const timer = setInterval(() => {
    const due = ((performance.now() - begun) / 1000) * rate;
    while (samples.length < due) samples.push(request());
  }, 5);
  return async () => {
    clearInterval(timer);
    return await Promise.all(samples);
  };
}

/** The latency that this part of the samples stays within. */
export function quantile(part: number, samples: readonly Sample[]): number {
  const latencies = samples.map(({ latency }) => latency).sort((a, b) => a - b);
  return latencies[Math.min(latencies.length - 1, Math.floor(latencies.length * part))] ?? 0;
}
