// Runs in a thread of its own, so that what an attacker is busy with does not count as latency.
import { once } from 'node:events';
import { Agent, get } from 'node:http';
import { parentPort, workerData } from 'node:worker_threads';

const { port } = workerData as { port: number };
const pause = 10;
const agent = new Agent({ keepAlive: true, maxSockets: 1 });
let latencies: number[] = [];
let refused: string[] = [];
let number = 0;

async function ask(path: string, token?: string): Promise<{ status: number; body: string }> {
  const headers = token === undefined ? {} : { Authorization: `Bearer ${token}` };
  const request = get({ port, host: '127.0.0.1', path, agent, headers });
  const [response] = await once(request, 'response');
  const chunks: Buffer[] = await response.toArray();
  return { status: response.statusCode, body: Buffer.concat(chunks).toString() };
}

async function askOnce(): Promise<void> {
  number += 1;
  const token = `honest-${number}`;
  const start = performance.now();
  try {
    const { status, body } =
      number % 2 ? await ask('/api/user', token) : await ask('/auth/provider');
    const served = number % 2 ? status === 200 && JSON.parse(body).login === token : status === 307;
    if (!served) refused.push(`${status} ${body}`);
  } catch (error) {
    refused.push(String(error));
  }
  latencies.push(performance.now() - start);
}

// Whoever asks gets what happened since it last asked.
parentPort?.on('message', () => {
  parentPort?.postMessage({ latencies, refused });
  latencies = [];
  refused = [];
});
for (;;) {
  await askOnce();
  await new Promise((resolve) => setTimeout(resolve, pause));
}
