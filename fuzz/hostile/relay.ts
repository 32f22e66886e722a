import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

/** The key with which the relay under attack seals states: whoever attacks it knows it. */
export const stateKey = 'known-to-the-attacker-0123456789abcdef';

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

const main = fileURLToPath(new URL('../../bin/login-relay.ts', import.meta.url));

/**
 * Starts a relay; `LOGIN_RELAY` names another executable than the source.
 *
 * @param flags by name, without the dashes
 */
export async function startRelayUnderAttack(
  flags: Readonly<Record<string, string>>,
): Promise<RelayUnderAttack> {
  const folder = mkdtempSync(join(tmpdir(), 'login-relay-'));
  const keyFile = join(folder, 'state-key');
  writeFileSync(keyFile, stateKey, { mode: 0o600 });
  const given = Object.entries({
    port: '0',
    'state-key-file': keyFile,
    'log-format': 'json',
    ...flags,
  });
  const binary = process.env['LOGIN_RELAY'];
  const command = binary ? [binary] : [process.execPath, main];
  const child = spawn(
    command[0] ?? '',
    [...command.slice(1), ...given.flatMap(([name, value]) => [`--${name}`, value])],
    {
      env: { PATH: process.env['PATH'], PROVIDER_CLIENT_SECRET: 'attacked' },
      stdio: ['ignore', 'pipe', 'pipe'],
    },
  );
  const outcomes = new Map<string, number>();
  const faults: string[] = [];
  const address = await new Promise<string>((resolve, reject) => {
    child.once('exit', (code) => reject(new Error(`the relay ended with ${code}`)));
    createInterface(child.stdout).on('line', (line) => {
      const read = readLogLine(line);
      if (read === undefined) faults.push(`not a log line: ${line.slice(0, 200)}`);
      else if (read['msg'] === 'listening') resolve(String(read['address']));
      else countOutcome(read, outcomes, faults);
    });
  });
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    faults.push(`standard error: ${text.slice(0, 1000)}`);
  });
  const kill = () => child.kill('SIGKILL');
  process.on('exit', kill);
  const ended = endOf(child, faults);
  return {
    port: Number(new URL(address).port),
    pid: child.pid ?? 0,
    outcomes,
    faults,
    async stop() {
      child.kill('SIGTERM');
      await ended;
      process.off('exit', kill);
      rmSync(folder, { recursive: true });
    },
  };
}

async function endOf(child: ChildProcess, faults: string[]): Promise<void> {
  const [code, signal] = await once(child, 'close');
  if (code !== 0) faults.push(`the relay ended with ${code ?? signal}`);
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
