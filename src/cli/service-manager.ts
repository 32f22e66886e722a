import { type ExecFileException, execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { ConfigError } from '../failures/start-errors.ts';

export type ServiceManager = ReturnType<typeof connectServiceManager>;

const run = promisify(execFile);

// The first passed file descriptor.
const firstPassed = 3;

// In milliseconds, as systemd-notify expects. If it hangs, it must not delay the end of this process.
const patience = 5_000;

/**
 * Connects to systemd, or to a program with the same protocols, that started this process. It removes systemd's
 * variables from the environment, so that child processes do not use them.
 *
 * It sends notifications through systemd-notify(1), because Node.js has no Unix datagram sockets. They arrive in order,
 * and regularly if a watchdog is set.
 *
 * @param pid of this process
 * @param onFailure called with the error's code, the first time that a notification fails
 * @throws {ConfigError} if more than one socket is passed
 * @see sd_listen_fds(3), sd_notify(3), sd_watchdog_enabled(3)
 */
export function connectServiceManager(
  environment: Record<string, string | undefined>,
  pid: number,
  onFailure: (error: string) => void,
) {
  const takeVariable = (name: string) => {
    const value = environment[name];
    delete environment[name];
    return value;
  };
  /** Whether a variable is meant for this process, and not for a parent of it. */
  const isOwn = (owner: string | undefined) => owner === `${pid}`;
  const hasSocket = isOwn(takeVariable('LISTEN_PID'));
  const sockets = takeVariable('LISTEN_FDS');
  takeVariable('LISTEN_FDNAMES');
  const isWatched = isOwn(takeVariable('WATCHDOG_PID') ?? `${pid}`);
  const watchdogTime = Number(takeVariable('WATCHDOG_USEC')) / 1000;
  const address = takeVariable('NOTIFY_SOCKET');
  if (hasSocket && sockets !== '1') {
    throw new ConfigError([
      'LISTEN_FDS must be 1: the relay listens on one socket, so its socket unit has one ListenStream',
    ]);
  }

  // Do not pass the whole environment, because it may contain secrets.
  const options = {
    env: { NOTIFY_SOCKET: address, PATH: environment['PATH'] },
    timeout: patience,
  };
  let sent: Promise<unknown> = Promise.resolve();
  let failed = false;

  /** Sends a notification after all earlier ones. Resolves once it is sent, or has failed. */
  function notify(...assignments: string[]): Promise<unknown> {
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
      // Do not queue signs of life, because more important notifications would have to wait behind them.
      if (telling) return;
      telling = true;
      await notify('WATCHDOG=1');
      telling = false;
    };
    // A timer, so that the notifications stop if the event loop hangs.
    setInterval(signOfLife, watchdogTime / 2).unref();
  }
  return {
    socket: hasSocket ? { fd: firstPassed } : undefined,
    ready(): void {
      notify('READY=1');
    },
    /** Tells systemd that the relay reads its configuration again. Call `ready` afterwards. */
    reloading(): void {
      // hrtime is CLOCK_MONOTONIC, which systemd expects.
      notify('RELOADING=1', `MONOTONIC_USEC=${process.hrtime.bigint() / 1000n}`);
    },
    /** Tells systemd that the relay stops. Resolves once this and all earlier notifications are sent. */
    stopping: () => notify('STOPPING=1'),
  };
}
