import { expect } from 'chai';
import { send } from './http-client.ts';
import type { Invocation, RelayProcess } from './relay-process.ts';
import {
  flagsFor,
  listening,
  RelayUnderTest,
  registration,
  withSecretFile,
} from './relay-under-test.ts';
import { StrictProvider } from './strict-provider.ts';

/**
 * A relay with two workers, if nothing else is said, that the test itself ends; whatever comes,
 * nothing of them is left.
 */
export async function withWorkers(
  act: (underTest: RelayUnderTest, secretFile: string) => Promise<void>,
  { flags = {}, ...invocation }: Invocation = {},
): Promise<void> {
  const provider = await StrictProvider.start(registration());
  await withSecretFile(provider.registration.clientSecret, async (file) => {
    const usual = { ...flagsFor(provider, file), workers: '2' };
    const { relay, port } = await listening({ ...invocation, flags: { ...usual, ...flags } });
    try {
      await act(new RelayUnderTest(relay, port, provider), file);
      expect(provider.violations).to.deep.equal([]);
    } finally {
      await relay.stop('SIGKILL');
      await provider.stop();
    }
  });
}

/** Has the workers replaced, and resolves once they are. */
export async function reload(relay: RelayProcess): Promise<void> {
  let read = relay.stdout.length;
  process.kill(relay.pid, 'SIGHUP');
  await relay.output((stdout) => {
    if (stdout.includes('"not reloaded', read)) throw new Error('not reloaded');
    if (stdout.includes('"reloaded', read)) return true;
    // What has been searched need not be searched again, but for the last line.
    read = Math.max(read, stdout.lastIndexOf('\n'));
    return undefined;
  });
}

/** What a relay answers to Prometheus. */
export async function metricsOf({ process: relay }: RelayUnderTest): Promise<string> {
  const { metricsAddress } = await relay.logLine(({ msg }) => msg === 'listening');
  const port = Number(new URL(String(metricsAddress)).port);
  const answer = await send(port, { path: '/metrics' });
  expect(answer.status).to.equal(200);
  return answer.body.toString();
}
