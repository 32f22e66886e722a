import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { copyFileSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const bootScript = fileURLToPath(new URL('boot.sh', import.meta.url));
const projectRoot = fileURLToPath(new URL('../../..', import.meta.url));

/** A container with systemd as its first process, and with the files and network of this machine. */
export class BootedSystem {
  readonly #child: ChildProcess;

  private constructor(child: ChildProcess) {
    this.#child = child;
  }

  /**
   * Boots it. The project is in `/opt/login-relay` there.
   *
   * @param network whether it has a network of its own, where every port is free
   */
  static async boot(network: 'shared' | 'own' = 'shared'): Promise<BootedSystem> {
    const more = network === 'own' ? ['--net'] : [];
    const child = spawn(bootScript, [projectRoot, ...more], {
      stdio: ['ignore', 'ignore', 'inherit'],
    });
    const system = new BootedSystem(child);
    process.on('exit', () => child.kill('SIGKILL'));
    const ended = once(child, 'exit').then(([code]) => {
      throw new Error(`the system did not boot: ${code}`);
    });
    // Nothing listens for its end after it was stopped.
    ended.catch(() => {});
    while (!system.#isBooted()) await Promise.race([ended, new Promise(setImmediate)]);
    return system;
  }

  /** Runs a script there as root. Throws if it fails. */
  run(script: string): string {
    const entering = [
      '--target',
      this.#firstProcess(),
      '--mount',
      '--pid',
      '--ipc',
      '--uts',
      '--cgroup',
      '--net',
      '--root',
      '--wd',
    ];
    return execFileSync('nsenter', [...entering, 'sh', '-euc', script], {
      encoding: 'utf8',
      maxBuffer: 64 * 1024 * 1024,
      stdio: ['ignore', 'pipe', 'pipe'],
      env: { PATH: '/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin' },
    });
  }

  /** Copies a file of this system into it. */
  copy(from: string, to: string): void {
    copyFileSync(from, `/proc/${this.#firstProcess()}/root${to}`);
  }

  async stop(): Promise<void> {
    const ended = once(this.#child, 'exit');
    // Its first process ends with it.
    this.#child.kill('SIGKILL');
    await ended;
  }

  #isBooted(): boolean {
    try {
      const state = this.run('systemctl is-system-running --wait || true').trim();
      return state === 'running' || state === 'degraded';
    } catch {
      return false;
    }
  }

  #firstProcess(): string {
    const { pid } = this.#child;
    const [child = ''] = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').split(' ');
    return child;
  }
}
