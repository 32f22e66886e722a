import { type ExecFileException, execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { ConfigError } from './start-errors.ts';

/** What systemd, or a program with the same protocols, has passed to this process. */
export type SystemdEnvironment = ReturnType<typeof takeSystemdEnvironment>;

const run = promisify(execFile);

// The first passed file descriptor.
const firstPassed = 3;

/**
 * Reads systemd's variables and removes them from the environment, so that child processes do not
 * take them for their own.
 *
 * @param pid of this process
 * @throws {ConfigError} if more than one socket is passed
 * @see sd_listen_fds(3), sd_notify(3), sd_watchdog_enabled(3)
 */
export function takeSystemdEnvironment(
  environment: Record<string, string | undefined>,
  pid: number,
) {
  const take = (name: string) => {
    const value = environment[name];
    delete environment[name];
    return value;
  };
  const sockets = { pid: take('LISTEN_PID'), count: take('LISTEN_FDS') };
  take('LISTEN_FDNAMES');
  const watchdog = { pid: take('WATCHDOG_PID'), microseconds: Number(take('WATCHDOG_USEC')) };
  const address = take('NOTIFY_SOCKET');

  if (sockets.pid === `${pid}` && sockets.count !== '1') {
    throw new ConfigError([
      'LISTEN_FDS must be 1: the relay listens on one socket, so its socket unit has one ListenStream',
    ]);
  }
  const isWatched = (watchdog.pid ?? `${pid}`) === `${pid}` && watchdog.microseconds > 0;
  return {
    socket: sockets.pid === `${pid}` ? { fd: firstPassed } : undefined,
    /** How this process notifies systemd. */
    notifications: address
      ? {
          /** The address of the notification socket. */
          address,
          /** Milliseconds within which systemd expects the next watchdog notification. */
          watchdogTime: isWatched ? watchdog.microseconds / 1000 : undefined,
        }
      : undefined,
  };
}

/** The service manager that started this process. Messages are sent one after the other. */
export type ServiceManager = ReturnType<typeof connectServiceManager>;

// systemd-notify takes milliseconds. One that hangs must not delay the end of this process.
const patience = 5_000;

/**
 * Notifies the service manager through systemd-notify(1), because Node has no Unix datagram sockets.
 * Messages arrive in order. If a watchdog is set, it is notified regularly.
 *
 * @param path the value of `PATH`
 * @param onFailure called with the error's code, the first time that a message cannot be sent
 * @see sd_notify(3)
 */
export function connectServiceManager(
  { address, watchdogTime }: NonNullable<SystemdEnvironment['notifications']>,
  path: string | undefined,
  onFailure: (error: string) => void,
) {
  // Don't pass the whole environment: it may hold secrets.
  const environment = { NOTIFY_SOCKET: address, PATH: path };
  let last: Promise<unknown> = Promise.resolve();
  let failed = false;

  function tell(...assignments: string[]): Promise<unknown> {
    const options = { env: environment, timeout: patience };
    last = last
      .then(() => run('systemd-notify', assignments, options))
      .then(undefined, (error: ExecFileException) => {
        if (!failed) onFailure(String(error.code ?? error.signal));
        failed = true;
      });
    return last;
  }

  if (watchdogTime !== undefined) {
    let telling = false;
    const signOfLife = async () => {
      // Don't queue: more important messages would wait behind these.
      if (telling) return;
      telling = true;
      await tell('WATCHDOG=1');
      telling = false;
    };
    // A timer: if the event loop hangs, the notifications stop.
    setInterval(signOfLife, watchdogTime / 2).unref();
  }
  return {
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
