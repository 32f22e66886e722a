import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** Flags by name without the dashes; a flag that is undefined is left out. */
export type Flags = Record<string, string | undefined>;

/** How to start the command. Of the environment, it inherits only PATH. */
export interface Invocation {
  flags?: Flags;
  env?: Record<string, string>;
  /** Arguments before the flags. */
  words?: string[];
  /** A program with its arguments that starts the command. Default: the test starts it. */
  launcher?: string[];
}

/** The command that starts a relay. `LOGIN_RELAY` names another executable, such as the binary. */
export const relayCommand: [string, ...string[]] = process.env['LOGIN_RELAY']
  ? [process.env['LOGIN_RELAY']]
  : [process.execPath, fileURLToPath(new URL('../../../bin/login-relay.ts', import.meta.url))];

// Hundreds of relays start here. They share compiled code, which halves the time of a start. This does not
// work with coverage.
const compileCache = mkdtempSync(join(tmpdir(), 'login-relay-compiled-'));
const living = new Set<ChildProcess>();

process.on('exit', () => {
  for (const child of living) child.kill('SIGKILL');
  rmSync(compileCache, { recursive: true, force: true });
});

/** Starts the command, with pipes for its output. It never outlives this process. */
export function spawnRelay({ flags = {}, env = {}, words = [], launcher = [] }: Invocation) {
  const given = Object.entries(flags).flatMap(([name, value]) =>
    value === undefined ? [] : [`--${name}`, value],
  );
  const [command = '', ...args] = [...launcher, ...relayCommand, ...words, ...given];
  const child = spawn(command, args, {
    env: { ...inheritedEnvironment(), ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  living.add(child);
  child.once('close', () => living.delete(child));
  return child;
}

function inheritedEnvironment(): Record<string, string> {
  const inherited: Record<string, string> = {};
  // c8 measures what the child processes cover through NODE_V8_COVERAGE.
  for (const name of ['PATH', 'NODE_V8_COVERAGE']) {
    const value = process.env[name];
    if (value !== undefined) inherited[name] = value;
  }
  const isSource = process.env['LOGIN_RELAY'] === undefined;
  if (isSource && inherited['NODE_V8_COVERAGE'] === undefined) {
    inherited['NODE_COMPILE_CACHE'] = compileCache;
  }
  return inherited;
}
