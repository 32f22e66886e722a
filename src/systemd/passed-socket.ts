import { ConfigError } from '../config/config-error.ts';

/** A socket that was opened by whoever started this process, and that stays open when it ends. */
export interface PassedSocket {
  /** Its file descriptor. */
  readonly fd: number;
}

// Descriptors are passed from here on.
const firstPassed = 3;

/**
 * Takes the socket that systemd, or whoever speaks its protocol, has passed to this process. The
 * variables that tell of it are removed: what this process starts must not take it for its own.
 *
 * @returns undefined where none was passed
 * @throws {ConfigError} where it is not exactly one
 * @see sd_listen_fds(3)
 */
export function takePassedSocket(
  environment: Record<string, string | undefined>,
  pid: number,
): PassedSocket | undefined {
  const { LISTEN_PID, LISTEN_FDS } = environment;
  for (const name of ['LISTEN_PID', 'LISTEN_FDS', 'LISTEN_FDNAMES', 'LISTEN_PIDFDID']) {
    delete environment[name];
  }
  if (LISTEN_PID !== String(pid)) return undefined;
  if (LISTEN_FDS === '1') return { fd: firstPassed };
  throw new ConfigError([
    'LISTEN_FDS must be 1: the relay listens on one socket, so its socket unit has one ListenStream',
  ]);
}
