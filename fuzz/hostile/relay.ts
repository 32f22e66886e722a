import { listening, secretFile } from '../../test/harness/relay/relay-under-test.ts';
import { granted, hidden } from './markers.ts';

/** The key with which the relay under attack seals states: whoever attacks it knows it. */
export const stateKey = 'known-to-the-attacker-0123456789abcdef';

/** What no line of the log may have: marked secrets, and whatever the relay has sealed. */
const secrets = [hidden, granted, 'eyJhbGciOiJkaXIi'];

/** A relay that is attacked, in a process of its own. */
export interface RelayUnderAttack {
  readonly port: number;
  readonly pid: number;
  /** How often each outcome stands in the log. */
  readonly outcomes: ReadonlyMap<string, number>;
  /** What is wrong with what the process wrote. */
  readonly faults: readonly string[];
  /** Ends it; what is wrong with its end is among the faults then. */
  stop(): Promise<void>;
}

/**
 * Starts a relay; `LOGIN_RELAY` names another executable than the source.
 *
 * @param flags by name, without the dashes
 */
export async function startRelayUnderAttack(
  flags: Readonly<Record<string, string>>,
): Promise<RelayUnderAttack> {
  const outcomes = new Map<string, number>();
  const faults: string[] = [];
  const { relay, port } = await listening({
    flags: { port: '0', 'key-file': await secretFile(stateKey), 'log-format': 'json', ...flags },
    env: { PROVIDER_CLIENT_SECRET: 'attacked' },
  });
  relay.passOn((line) => {
    if (secrets.some((secret) => line.includes(secret))) faults.push(`in the log: ${line}`);
    const read = readLogLine(line);
    if (read === undefined) faults.push(`not a log line: ${line.slice(0, 200)}`);
    else countOutcome(read, outcomes, faults);
  });
  return {
    port,
    pid: relay.pid,
    outcomes,
    faults,
    async stop() {
      const { code, signal, stderr } = await relay.stop();
      if (code !== 0) faults.push(`the relay ended with ${code ?? signal}`);
      if (stderr !== '') faults.push(`standard error: ${stderr.slice(0, 1000)}`);
    },
  };
}

function readLogLine(line: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(line);
    return typeof value === 'object' && value !== null ? { ...value } : undefined;
  } catch {
    return undefined;
  }
}

function countOutcome(
  line: Record<string, unknown>,
  outcomes: Map<string, number>,
  faults: string[],
): void {
  const outcome = String(line['outcome'] ?? line['msg']);
  outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + 1);
  if (outcome === 'internal_error') faults.push(`unexpected error: ${String(line['stack'])}`);
}
