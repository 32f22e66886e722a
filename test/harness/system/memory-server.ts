import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createClient } from '@redis/client';
import { eventually } from './eventually.ts';
import { freePort } from './free-port.ts';

/** The program, which is Redis or another program that speaks its protocol. */
export const memoryProgram = process.env['MEMORY_SERVER'] ?? 'redis-server';

/** A server for the memory that relays share, as a process. */
export class MemoryServer {
  readonly port: number;
  readonly directory: string;
  readonly #words: readonly string[];
  readonly #config: string | undefined;
  #process: ChildProcess | undefined;

  private constructor(port: number, words: readonly string[], config?: string) {
    this.port = port;
    this.directory = mkdtempSync(join(tmpdir(), 'login-relay-memory-'));
    this.#words = words;
    this.#config = config;
  }

  /** @param words further options, such as `--maxmemory 1` */
  static async start(...words: string[]): Promise<MemoryServer> {
    const server = new MemoryServer(await freePort(), words);
    await server.start();
    return server;
  }

  /** Starts a Sentinel that watches the primary `main`. */
  static async sentinelOf(primary: MemoryServer): Promise<MemoryServer> {
    const config = `sentinel monitor main 127.0.0.1 ${primary.port} 2
sentinel down-after-milliseconds main 1000
sentinel failover-timeout main 5000
`;
    const server = new MemoryServer(await freePort(), [], config);
    await server.start();
    return server;
  }

  get address(): string {
    return `redis://127.0.0.1:${this.port}`;
  }

  /** The path of its socket. */
  get socket(): string {
    return join(this.directory, 'socket');
  }

  async start(): Promise<void> {
    const own = ['--port', `${this.port}`, '--bind', '127.0.0.1', '--dir', this.directory];
    const nothingKept = ['--save', '', '--appendonly', 'no', '--daemonize', 'no'];
    const words = [...own, ...nothingKept, '--unixsocket', this.socket, ...this.#words];
    this.#process = spawn(memoryProgram, this.#config === undefined ? words : this.#sentinel(own), {
      stdio: 'ignore',
    });
    await eventually(async () => {
      const socket = connect(this.socket);
      await once(socket, 'connect');
      socket.destroy();
    });
  }

  #sentinel(words: readonly string[]): string[] {
    const file = join(this.directory, 'sentinel.conf');
    writeFileSync(file, `unixsocket ${this.socket}\n${this.#config}`);
    return [file, '--sentinel', ...words];
  }

  /** Ends it at once. What it remembers is lost. */
  async kill(): Promise<void> {
    const running = this.#process;
    if (running === undefined || running.exitCode !== null || running.signalCode !== null) return;
    running.kill('SIGKILL');
    await once(running, 'exit');
  }

  pause(): void {
    this.#process?.kill('SIGSTOP');
  }

  resume(): void {
    this.#process?.kill('SIGCONT');
  }

  /** Runs commands as an operator. */
  async run(...commands: string[][]): Promise<unknown[]> {
    const client = createClient({ socket: { tls: false, path: this.socket } });
    client.on('error', () => {});
    await client.connect();
    try {
      const replies: unknown[] = [];
      for (const words of commands) replies.push(await client.sendCommand(words));
      return replies;
    } finally {
      client.destroy();
    }
  }

  /** Every key with its value, and the milliseconds that it has left. */
  async content(): Promise<{ key: string; value: string; left: number }[]> {
    const [keys] = await this.run(['KEYS', '*']);
    const all: { key: string; value: string; left: number }[] = [];
    for (const key of keys as string[]) {
      const [value, left] = await this.run(['GET', key], ['PTTL', key]);
      // It may have ended meanwhile.
      if (value !== null) all.push({ key, value: String(value), left: Number(left) });
    }
    return all;
  }

  /** The number of each command since the start. */
  async commands(): Promise<Record<string, number>> {
    const [info] = await this.run(['INFO', 'commandstats']);
    const lines = String(info).matchAll(/cmdstat_(\w+):calls=(\d+)/g);
    return Object.fromEntries([...lines].map(([, name = '', calls]) => [name, Number(calls)]));
  }

  async stop(): Promise<void> {
    this.resume();
    await this.kill();
    rmSync(this.directory, { recursive: true, force: true });
  }
}
