import { type ExecFileException, execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { ConfigError } from '../failures/start-errors.ts';

export type ServiceManager = ReturnType<typeof connectServiceManager>;

const run = promisify(execFile);

// The first passed file descriptor.
const firstPassed = 3;

// systemd-notify takes milliseconds. One that hangs must not delay the end of this process.
const patience = 5_000;

/**
 * Connects to systemd, or to a program with the same protocols, if it has started this process. Removes its variables
 * from the environment, so that child processes do not take them for their own.
 *
 * Notifies it through systemd-notify(1), because Node has no Unix datagram sockets. Messages arrive in order. If a
 * watchdog is set, it is notified regularly.
 *
 * @param pid of this process
 * @param onFailure called with the error's code, the first time that a message cannot be sent
 * @throws {ConfigError} if more than one socket is passed
 * @see sd_listen_fds(3), sd_notify(3), sd_watchdog_enabled(3)
 */
export function connectServiceManager(
  environment: Record<string, string | undefined>,
  pid: number,
  onFailure: (error: string) => void,
) {
  /** Reads a variable, and removes it. */
  const take = (name: string) => {
    const value = environment[name];
    delete environment[name];
    return value;
  };
  /** Whether a variable is meant for this process, and not for one that has started it. */
  const isOwn = (owner: string | undefined) => owner === `${pid}`;
  const hasSocket = isOwn(take('LISTEN_PID'));
  const sockets = take('LISTEN_FDS');
  take('LISTEN_FDNAMES');
  const isWatched = isOwn(take('WATCHDOG_PID') ?? `${pid}`);
  const watchdogTime = Number(take('WATCHDOG_USEC')) / 1000;
  const address = take('NOTIFY_SOCKET');
  if (hasSocket && sockets !== '1') {
    throw new ConfigError([
      'LISTEN_FDS must be 1: the relay listens on one socket, so its socket unit has one ListenStream',
    ]);
  }

  // Don't pass the whole environment: it may hold secrets.
  const options = {
    env: { NOTIFY_SOCKET: address, PATH: environment['PATH'] },
    timeout: patience,
  };
  let sent: Promise<unknown> = Promise.resolve();
  let failed = false;

  /** Sends a message after all earlier ones. Resolves once it is sent, or has failed. */
  function tell(...assignments: string[]): Promise<unknown> {
    if (!address) return sent;
    sent = sent
      .then(() => run('systemd-notify', assignments, options))
      .then(undefined, (error: ExecFileException) => {
        if (!failed) onFailure(String(error.code ?? error.signal));
        failed = true;
      });
    return sent;
  }

  if (isWatched && watchdogTime > 0) {
    let telling = false;
    const signOfLife = async () => {
      // Don't queue: more important messages would wait behind signs of life.
      if (telling) return;
      telling = true;
      await tell('WATCHDOG=1');
      telling = false;
    };
    // A timer: if the event loop hangs, the notifications stop.
    setInterval(signOfLife, watchdogTime / 2).unref();
  }
  return {
    /** The socket that systemd passes to listen on; undefined if it passes none. */
    socket: hasSocket ? { fd: firstPassed } : undefined,
    /** The relay answers requests. */
    ready(): void {
      tell('READY=1');
    },
    /** The relay reads its configuration again. Call `ready` afterwards. */
    reloading(): void {
      // hrtime is CLOCK_MONOTONIC, which systemd expects.
      tell('RELOADING=1', `MONOTONIC_USEC=${process.hrtime.bigint() / 1000n}`);
    },
    /** No more requests are taken. Resolves once this and all earlier messages are sent. */
    stopping: () => tell('STOPPING=1'),
  };
}
