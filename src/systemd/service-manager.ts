import { execFile } from 'node:child_process';
import type { Notifications } from './environment.ts';

/** The service manager that started this process. Messages are sent one after the other. */
export interface ServiceManager {
  /** Requests are answered from now on. */
  ready(): void;
  /** The configuration is read again; `ready` says when that is over. */
  reloading(): void;
  /** No more requests are taken. Resolves once this and all earlier messages are sent. */
  stopping(): Promise<void>;
}

// Its answer is a matter of milliseconds; a service manager that hangs must not hold up the end.
const patience = 5_000;

/**
 * Speaks to the service manager through systemd-notify(1), as Node cannot write to its socket. Messages
 * arrive in their order. Where the service manager watches over this process, it hears regularly that
 * it is alive.
 *
 * @param path where programs are looked for
 * @param onFailure called the first time that a message cannot be sent, with the code of the error
 * @see sd_notify(3)
 */
export function connectServiceManager(
  { address, watchdogTime }: Notifications,
  path: string | undefined,
  onFailure: (error: string) => void,
): ServiceManager {
  // The rest of the environment, in which there may be secrets, is none of its business.
  const environment = { NOTIFY_SOCKET: address, PATH: path };
  let last = Promise.resolve();
  let failed = false;

  function tell(...assignments: string[]): Promise<void> {
    last = last.then(() => notify(assignments));
    return last;
  }

  function notify(assignments: string[]): Promise<void> {
    return new Promise((resolve) => {
      execFile('systemd-notify', assignments, { env: environment, timeout: patience }, (error) => {
        if (error && !failed) {
          failed = true;
          onFailure(String(error.code ?? error.signal));
        }
        resolve();
      });
    });
  }

  if (watchdogTime !== undefined) {
    let telling = false;
    const signOfLife = async () => {
      // Where nobody takes them, they must not queue up in front of what matters.
      if (telling) return;
      telling = true;
      await tell('WATCHDOG=1');
      telling = false;
    };
    // By a timer: of a process whose event loop hangs, nothing is heard.
    setInterval(signOfLife, watchdogTime / 2).unref();
  }
  return {
    ready() {
      tell('READY=1');
    },
    reloading() {
      // hrtime reads the clock that systemd compares with.
      tell('RELOADING=1', `MONOTONIC_USEC=${process.hrtime.bigint() / 1000n}`);
    },
    stopping: () => tell('STOPPING=1'),
  };
}
