import { send } from '../../harness/client/http-client.ts';
import { startRelay } from '../../harness/relay/relay-under-test.ts';

let exported: Promise<Map<string, string>> | undefined;

/** What a relay exports: types by name. A relay is asked once for all tests. */
export function exportedMetrics(): Promise<Map<string, string>> {
  exported ??= scrape();
  return exported;
}

async function scrape(): Promise<Map<string, string>> {
  const underTest = await startRelay({ 'metrics-port': '0' });
  const { metricsAddress } = await underTest.process.logLine(({ msg }) => msg === 'listening');
  const port = Number(new URL(String(metricsAddress)).port);
  const { body } = await send(port, { path: '/metrics' });
  await underTest.stop();
  const types = `${body}`.matchAll(/^# TYPE (\S+) (\w+)$/gm);
  return new Map([...types].map(([, name = '', type = '']) => [name, type]));
}
