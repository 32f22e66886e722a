import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';

/** A relay in a process of its own. */
export interface BenchedRelay {
  readonly url: string;
  /** Resident memory in MB; from /proc: Linux only. */
  memory(): number;
  stop(): Promise<void>;
}

/**
 * Starts a relay for this provider.
 *
 * @param command how to start it; its path alone where it is an executable
 * @param providerTimeout seconds that a call may take
 */
export async function startRelay(
  [program, ...words]: readonly [string, ...string[]],
  providerUrl: string,
  providerTimeout: number,
): Promise<BenchedRelay> {
  const child = spawn(program, [...words, '--port', '0'], {
    env: {
      PATH: process.env['PATH'],
      BASE_URL: 'http://localhost:8000',
      FRONTEND_ORIGIN: 'http://localhost:3000',
      PROVIDER_CLIENT_ID: 'bench',
      PROVIDER_CLIENT_SECRET: 'bench',
      PROVIDER_AUTHORIZE_URL: `${providerUrl}/authorize`,
      PROVIDER_TOKEN_URL: `${providerUrl}/token`,
      PROVIDER_USER_URL: `${providerUrl}/user`,
      PROVIDER_TIMEOUT: String(providerTimeout),
      LOG_FORMAT: 'json',
    },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const [line] = await once(createInterface(child.stdout), 'line');
  child.stdout.resume();
  const { address } = JSON.parse(line);
  return {
    url: address,
    memory() {
      const status = readFileSync(`/proc/${child.pid}/status`, 'utf8');
      return Number(/^VmRSS:\s+(\d+) kB/m.exec(status)?.[1]) / 1000;
    },
    async stop() {
      child.kill();
      await once(child, 'exit');
    },
  };
}
