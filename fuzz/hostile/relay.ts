import { listening, secretFile } from '../../test/harness/relay/relay-under-test.ts';
import { granted, hidden } from './markers.ts';

/** The key of the relay under attack. The attacker knows it. */
export const stateKey = 'known-to-the-attacker-0123456789abcdef';

/** Texts that must not be in the log: marked secrets, and everything that the relay has sealed. */
const secrets = [hidden, granted, 'lr1_'];

/** The relay under attack, as a process. */
export interface RelayUnderAttack {
  readonly port: number;
  readonly pid: number;
  /** The count of each outcome in the log. */
  readonly outcomes: ReadonlyMap<string, number>;
  /** The faults in the output of the process. */
  readonly faults: readonly string[];
  /** Stops it. A wrong end is one of the faults then. */
  stop(): Promise<void>;
}

/**
 * Starts a relay. `LOGIN_RELAY` names an executable to use instead of the source.
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
