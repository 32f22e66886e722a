import type { PassedSocket } from '../server/passed-socket.ts';
import { ConfigError } from '../start-errors.ts';

/** What systemd, or whoever speaks its protocols, has given to this process. */
export interface SystemdEnvironment {
  readonly socket: PassedSocket | undefined;
  readonly notifications: Notifications | undefined;
}

/** How this process is to tell what it does. */
export interface Notifications {
  /** The address of the socket that takes them. */
  readonly address: string;
  /** Milliseconds within which a sign of life is awaited, again and again. */
  readonly watchdogTime: number | undefined;
}

// Descriptors are passed from here on.
const firstPassed = 3;

/**
 * Takes what systemd tells a service in the environment. The variables are removed: what this process
 * starts must not take it for its own.
 *
 * @param pid of this process
 * @throws {ConfigError} where sockets are passed, but not exactly one
 * @see sd_listen_fds(3), sd_notify(3), sd_watchdog_enabled(3)
 */
export function takeSystemdEnvironment(
  environment: Record<string, string | undefined>,
  pid: number,
): SystemdEnvironment {
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
    notifications: address
      ? { address, watchdogTime: isWatched ? watchdog.microseconds / 1000 : undefined }
      : undefined,
  };
}
