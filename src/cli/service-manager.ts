import { type ExecFileException, execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { ConfigError } from '../failures/start-errors.ts';

export type ServiceManager = ReturnType<typeof connectServiceManager>;

const run = promisify(execFile);

/** The number of the first file descriptor that systemd passes. @see sd_listen_fds(3) */
const firstPassedDescriptor = 3;

/** Milliseconds after which systemd-notify is ended, because it must not delay the end of this process. */
const notifyTime = 5_000;

/**
 * Connects to systemd, or to a program with the same protocols, that started this process. It removes systemd's
 * variables from the environment, so that child processes do not use them.
 *
 * It sends notifications through systemd-notify(1), because Node.js has no Unix datagram sockets. They arrive in order.
 * If a watchdog is set, it also sends a sign of life regularly.
 *
 * @param pid the id of this process
 * @param onFailure called with the error's code, the first time that a notification fails
 * @throws {ConfigError} if more than one socket is passed
 * @see sd_listen_fds(3), sd_notify(3), sd_watchdog_enabled(3)
 */
export function connectServiceManager(
  environment: Record<string, string | undefined>,
  pid: number,
  onFailure: (error: string) => void,
) {
  const takeVariable = (name: string): string | undefined => {
    const value = environment[name];
    delete environment[name];
    return value;
  };
  /** Whether a variable that names a process is meant for this process, and not for a parent process. */
  const isOwnPid = (text: string | undefined) => text === `${pid}`;
  const hasSocket = isOwnPid(takeVariable('LISTEN_PID'));
  const sockets = takeVariable('LISTEN_FDS');
  takeVariable('LISTEN_FDNAMES');
  const isWatched = isOwnPid(takeVariable('WATCHDOG_PID') ?? `${pid}`);
  const watchdogTime = Number(takeVariable('WATCHDOG_USEC')) / 1000;
  const address = takeVariable('NOTIFY_SOCKET');
  if (hasSocket && sockets !== '1') {
    throw new ConfigError([
      'LISTEN_FDS must be 1: the relay listens on one socket, so its socket unit has one ListenStream',
    ]);
  }

  // The program does not get the whole environment, because it may contain secrets.
  const options = {
    env: { NOTIFY_SOCKET: address, PATH: environment['PATH'] },
    timeout: notifyTime,
  };
  let lastSent: Promise<unknown> = Promise.resolve();
  let hasFailed = false;

  /** Sends a notification after all earlier ones. Resolves once it is sent, or has failed. */
  function notify(...assignments: string[]): Promise<unknown> {
    if (!address) return lastSent;
    lastSent = lastSent
      .then(() => run('systemd-notify', assignments, options))
      .then(undefined, (error: ExecFileException) => {
        if (!hasFailed) onFailure(String(error.code ?? error.signal));
        hasFailed = true;
      });
    return lastSent;
  }

  if (isWatched && watchdogTime > 0) {
    let isSending = false;
    const sendSignOfLife = async () => {
      // Signs of life are not queued, because more important notifications would have to wait behind them.
      if (isSending) return;
      isSending = true;
      await notify('WATCHDOG=1');
      isSending = false;
    };
    // If the event loop hangs, the timer stops, so that systemd restarts the service.
    setInterval(sendSignOfLife, watchdogTime / 2).unref();
  }
  return {
    socket: hasSocket ? { fd: firstPassedDescriptor } : undefined,
    /** Tells systemd that the relay serves requests: after the start, and after each reload. */
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
