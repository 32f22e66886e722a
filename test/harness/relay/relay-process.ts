import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { inspectForLeaks } from '../expect/canaries.ts';

/**
 * Flags with values, by name without the dashes. Undefined flags are left out. Give a flag without a value as a
 * variable.
 */
export type Flags = Record<string, string | undefined>;

/** How to start the command. Of the environment, it inherits only PATH. */
export interface Invocation {
  flags?: Flags;
  env?: Record<string, string>;
  /** Arguments before the flags. */
  words?: string[];
  /** A program with its arguments that starts the command. By default, the test starts the command itself. */
  launcher?: string[];
}

/** The sources of the relay, as a program. */
export const sources = fileURLToPath(new URL('../../../bin/login-relay.ts', import.meta.url));
const program = process.env['LOGIN_RELAY'] || sources;
const isScript = /\.c?[jt]s$/.test(program);

/** The command that starts a relay. `LOGIN_RELAY` names another script or executable than the sources. */
export const relayCommand: [string, ...string[]] = isScript ? [process.execPath, program] : [program];

// Hundreds of relays start here. They share compiled code, which halves the time of a start. This does not
// work with coverage.
const compileCache = mkdtempSync(join(tmpdir(), 'login-relay-compiled-'));
const living = new Set<ChildProcess>();

process.on('exit', () => {
  for (const child of living) child.kill('SIGKILL');
  rmSync(compileCache, { recursive: true, force: true });
});

/** The result of a command. */
export interface Ending {
  code: number | null;
  signal: NodeJS.Signals | null;
  stdout: string;
  stderr: string;
}

/** One line of the log. */
export type LogLine = Record<string, unknown>;

/** A relay as a process. */
export class RelayProcess {
  readonly ended: Promise<Ending>;
  readonly #child: ChildProcess;
  #stdout = '';
  #stderr = '';
  readonly #watchers = new Set<() => void>();

  constructor(invocation: Invocation) {
    this.#child = spawnRelay(invocation);
    this.#child.stdout?.setEncoding('utf8').on('data', (text: string) => {
      this.#stdout += text;
      this.#notify();
    });
    this.#child.stderr?.setEncoding('utf8').on('data', (text: string) => {
      this.#stderr += text;
    });
    this.ended = once(this.#child, 'close').then(([code, signal]) => {
      inspectForLeaks('standard output', this.#stdout);
      inspectForLeaks('standard error', this.#stderr);
      this.#notify();
      return { code, signal, stdout: this.#stdout, stderr: this.#stderr };
    });
  }

  get pid(): number {
    return this.#child.pid ?? 0;
  }

  get stdout(): string {
    return this.#stdout;
  }

  get stderr(): string {
    return this.#stderr;
  }

  /** Every complete line of standard output; throws if one is not a JSON object. */
  get logLines(): LogLine[] {
    return this.#stdout.split('\n').slice(0, -1).map(parseLogLine);
  }

  /** Resolves with the first defined result of `find` for standard output. */
  async output<T>(find: (stdout: string) => T | undefined): Promise<T> {
    return await new Promise((resolve, reject) => {
      const watcher = () => {
        try {
          const found = find(this.#stdout);
          if (found === undefined) return;
          resolve(found);
        } catch (error) {
          reject(error);
        }
        this.#watchers.delete(watcher);
      };
      this.#watchers.add(watcher);
      watcher();
      this.ended.then(({ code, stderr }) => {
        this.#watchers.delete(watcher);
        reject(new Error(`the relay ended with ${code} too early: ${stderr}`));
      }, reject);
    });
  }

  /** Resolves with the log line that matches, once it has been written. */
  async logLine(matches: (line: LogLine) => boolean): Promise<LogLine> {
    return await this.output(() => this.logLines.find(matches));
  }

  /** Passes on each line of the log from now on, and stores none. Use it for millions of requests. */
  passOn(onLine: (line: string) => void = () => {}): void {
    const watcher = () => {
      const lines = this.#stdout.split('\n');
      this.#stdout = lines.pop() ?? '';
      for (const line of lines) onLine(line);
    };
    this.#watchers.add(watcher);
    watcher();
  }

  /** Asks the process to stop and waits until it has. */
  async stop(signal: NodeJS.Signals = 'SIGTERM'): Promise<Ending> {
    this.#child.kill(signal);
    return await this.ended;
  }

  #notify(): void {
    for (const watcher of this.#watchers) watcher();
  }
}

/** Runs a command until it ends, such as `--help`. */
export async function runRelay(invocation: Invocation): Promise<Ending> {
  return await new RelayProcess(invocation).ended;
}

function parseLogLine(line: string): LogLine {
  const parsed: unknown = JSON.parse(line);
  if (typeof parsed !== 'object' || parsed === null || Array.isArray(parsed)) {
    throw new Error(`not a log line: ${line}`);
  }
  return { ...parsed };
}

/** Starts the command, with pipes for its output. It never outlives this process. */
function spawnRelay({ flags = {}, env = {}, words = [], launcher = [] }: Invocation) {
  const given = Object.entries(flags).flatMap(([name, value]) => (value === undefined ? [] : [`--${name}`, value]));
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
  if (isScript && inherited['NODE_V8_COVERAGE'] === undefined) {
    inherited['NODE_COMPILE_CACHE'] = compileCache;
  }
  return inherited;
}
