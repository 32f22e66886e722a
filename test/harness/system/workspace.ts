import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { connect, type NetConnectOpts } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';

const living = new Set<ChildProcess>();
process.on('exit', () => {
  for (const child of living) killGroup(child, 'SIGKILL');
});

/**
 * A temporary folder for all files of a server, and the processes that run in it. The variable
 * `SERVER_OUTPUT` shows their output.
 */
export class Workspace {
  readonly folder: string;
  readonly #children: ChildProcess[] = [];
  #output = '';

  private constructor(folder: string) {
    this.folder = folder;
  }

  static async create(): Promise<Workspace> {
    return new Workspace(await mkdtemp(join(tmpdir(), 'login-relay-')));
  }

  /** The path of a file with this name, which may not exist yet. */
  path(name: string): string {
    return join(this.folder, name);
  }

  /** Writes a file that only its owner can read, and returns its path. */
  async write(name: string, content: string): Promise<string> {
    const path = this.path(name);
    await writeFile(path, content, { mode: 0o600 });
    return path;
  }

  /** Runs a program until it ends. Throws if it fails. */
  async run(command: string, args: readonly string[], env: Env = {}): Promise<void> {
    const child = this.#spawn(command, args, env);
    const [code] = await once(child, 'close');
    if (code !== 0) throw new Error(`${command} ended with ${code}:\n${this.#output}`);
  }

  /** The output of its processes so far. */
  get output(): string {
    return this.#output;
  }

  /** Starts a server and waits until it accepts connections there. */
  async serve(command: string, args: readonly string[], listens: NetConnectOpts, env: Env = {}): Promise<void> {
    const child = this.#spawn(command, args, env);
    while (!(await accepts(listens))) {
      if (child.exitCode !== null || child.signalCode !== null) {
        throw new Error(`${command} ended too early:\n${this.#output}`);
      }
      await delay(50);
    }
  }

  /** Ends every process, the last one first. */
  async end(): Promise<void> {
    for (const child of this.#children.reverse()) await end(child);
  }

  /** Ends every process, and removes the folder. */
  async close(): Promise<void> {
    await this.end();
    await rm(this.folder, { recursive: true, force: true });
  }

  #spawn(command: string, args: readonly string[], env: Env): ChildProcess {
    const child = spawn(command, args, {
      cwd: this.folder,
      // Use a separate process group: some servers start workers, and all of them must end.
      detached: true,
      env: { PATH: process.env['PATH'] ?? '', HOME: this.folder, ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding('utf8').on('data', (text: string) => {
        this.#output += text;
        if (process.env['SERVER_OUTPUT'] !== undefined) process.stderr.write(text);
      });
    }
    living.add(child);
    child.on('close', () => living.delete(child));
    this.#children.push(child);
    return child;
  }
}

type Env = Readonly<Record<string, string>>;

async function end(child: ChildProcess): Promise<void> {
  if (!living.has(child)) return;
  const closed = once(child, 'close');
  killGroup(child, 'SIGTERM');
  const timer = setTimeout(() => killGroup(child, 'SIGKILL'), 5000);
  await closed;
  clearTimeout(timer);
}

function killGroup({ pid }: ChildProcess, signal: NodeJS.Signals): void {
  if (pid === undefined) return;
  try {
    process.kill(-pid, signal);
  } catch (error) {
    if (Object(error).code !== 'ESRCH') throw error;
  }
}

async function accepts(address: NetConnectOpts): Promise<boolean> {
  const socket = connect(address);
  const open = await new Promise<boolean>((resolve) => {
    socket.on('connect', () => resolve(true)).on('error', () => resolve(false));
  });
  socket.destroy();
  return open;
}
