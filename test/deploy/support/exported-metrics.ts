import { keyFile, startRelay } from '../../harness/relay/relay-under-test.ts';

let exported: Promise<Map<string, string>> | undefined;

/** The types of the metrics that a relay exports, by name. All tests use one scrape. */
export function exportedMetrics(): Promise<Map<string, string>> {
  exported ??= scrape();
  return exported;
}

async function scrape(): Promise<Map<string, string>> {
  const underTest = await startRelay({
    'metrics-port': '0',
    'key-file': await keyFile(),
    // Nothing listens there, so the metrics show a failure.
    'shared-memory': 'redis://127.0.0.1:1',
  });
  const metrics = await underTest.metrics();
  await underTest.stop();
  const types = metrics.matchAll(/^# TYPE (\S+) (\w+)$/gm);
  return new Map([...types].map(([, name = '', type = '']) => [name, type]));
}
