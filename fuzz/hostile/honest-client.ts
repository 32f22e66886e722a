// Runs in a separate thread, so that the work of the attacker does not count as latency.
import { Agent } from 'node:http';
import { parentPort, workerData } from 'node:worker_threads';
import { request } from '../../test/harness/client/request.ts';

const { port } = workerData as { port: number };
const pause = 10;
const agent = new Agent({ keepAlive: true, maxSockets: 1 });
let latencies: number[] = [];
let refused: string[] = [];
let number = 0;

async function askOnce(): Promise<void> {
  number += 1;
  const token = `honest-${number}`;
  const start = performance.now();
  try {
    const { status, body } = await request(
      port,
      number % 2
        ? { path: '/api/user', headers: [['Authorization', `Bearer ${token}`]], agent }
        : { path: '/auth/provider', agent },
    );
    const served =
      number % 2 ? status === 200 && JSON.parse(`${body}`).login === token : status === 307;
    if (!served) refused.push(`${status} ${body}`);
  } catch (error) {
    refused.push(String(error));
  }
  latencies.push(performance.now() - start);
}

// The answer has all events since the previous question.
parentPort?.on('message', () => {
  parentPort?.postMessage({ latencies, refused });
  latencies = [];
  refused = [];
});
for (;;) {
  await askOnce();
  await new Promise((resolve) => setTimeout(resolve, pause));
}
