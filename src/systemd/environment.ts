import type { PassedSocket } from '../server/port.ts';
import { ConfigError } from '../start-errors.ts';

/** What systemd, or a program with the same protocols, has passed to this process. */
export interface SystemdEnvironment {
  readonly socket: PassedSocket | undefined;
  readonly notifications: Notifications | undefined;
}

/** How this process notifies systemd. */
export interface Notifications {
  /** The address of the notification socket. */
  readonly address: string;
  /** Milliseconds within which systemd expects the next watchdog notification. */
  readonly watchdogTime: number | undefined;
}

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
