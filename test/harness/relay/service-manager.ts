import { EventEmitter, once } from 'node:events';
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { inspectForLeaks } from '../expect/canaries.ts';

/** A call of systemd-notify: its arguments, its variables, and its descriptor 3. */
interface Notification {
  readonly message: string;
  readonly variables: readonly string[];
  readonly passed: string;
}

// Node cannot receive the datagrams of the real systemd-notify.
const systemdNotify = (signOfLifeTime: number) => `#!${process.execPath}
const { readlinkSync } = require('node:fs');
const { connect } = require('node:net');
const passed = readlinkSync('/proc/self/fd/3');
const message = process.argv.slice(2).join(' ');
const notification = { message, variables: Object.keys(process.env), passed };
const tell = () => connect(process.env.NOTIFY_SOCKET).end(JSON.stringify(notification));
setTimeout(tell, message === 'WATCHDOG=1' ? ${signOfLifeTime} : 0);
`;

/** A service manager for one relay. A fake systemd-notify sends it the messages. */
export class ServiceManager {
  readonly notifications: Notification[] = [];
  readonly #directory: string;
  readonly #server: Server;
  readonly #arrivals = new EventEmitter();

  private constructor(directory: string) {
    this.#directory = directory;
    this.#server = createServer(async (socket) => {
      let text = '';
      for await (const chunk of socket.setEncoding('utf8')) text += chunk;
      inspectForLeaks('a notification', text);
      this.notifications.push(JSON.parse(text));
      this.#arrivals.emit('notification');
    });
  }

  /** @param signOfLifeTime milliseconds that a watchdog notification takes */
  static async start(signOfLifeTime = 0): Promise<ServiceManager> {
    const manager = new ServiceManager(await mkdtemp(join(tmpdir(), 'login-relay-manager-')));
    const program = join(manager.#directory, 'systemd-notify');
    await writeFile(program, systemdNotify(signOfLifeTime));
    await chmod(program, 0o755);
    manager.#server.listen(manager.environment['NOTIFY_SOCKET']);
    await once(manager.#server, 'listening');
    return manager;
  }

  /** The variables of a relay that uses this service manager. */
  get environment(): Record<string, string> {
    return {
      NOTIFY_SOCKET: join(this.#directory, 'socket'),
      PATH: `${this.#directory}:${process.env['PATH']}`,
    };
  }

  /** The messages so far, without watchdog notifications. */
  get messages(): string[] {
    return this.notifications.map(({ message }) => message).filter((text) => text !== 'WATCHDOG=1');
  }

  /** Resolves once so many messages of this kind have arrived. */
  async hears(pattern: RegExp, count = 1): Promise<void> {
    const heard = () => this.notifications.filter(({ message }) => pattern.test(message));
    while (heard().length < count) await once(this.#arrivals, 'notification');
  }

  async stop(): Promise<void> {
    this.#server.close();
    await rm(this.#directory, { recursive: true });
  }
}
