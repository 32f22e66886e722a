import { pino } from 'pino';
import { readConfig } from '../../../src/config/config.ts';
import { createRelay } from '../../../src/relay/relay.ts';
import { readTextFile } from '../../../src/text-files.ts';

/**
 * A relay in the process of the test, which does not listen by itself. The test provides its log and its clock.
 *
 * @param flags by the names of the options, beyond those that every relay needs
 */
export async function createRelayHere(
  flags: Readonly<Record<string, string>>,
  onLine: (line: string) => void = () => {},
  now: () => number = Date.now,
) {
  const needed = {
    origin: 'https://app.example',
    clientId: 'client-1',
    clientSecret: 's'.repeat(40),
  };
  const given = Object.entries({ ...needed, ...flags }).map(([name, value]) => [name, [value]]);
  const { config } = readConfig({
    flags: Object.fromEntries(given),
    environment: {},
    readFile: readTextFile,
  });
  return { config, ...(await createRelay(config, pino({}, { write: onLine }), { now })) };
}
