import { get } from 'node:http';
import { get as getSecurely } from 'node:https';
import { describeFault } from '../../config/fault.ts';
import { type OptionSources, readOptionValues } from '../../config/option-values.ts';
import type { OptionName } from '../../config/options.ts';
import { ConfigError } from '../../start-errors.ts';
import { print } from '../print.ts';

const patience = 3_000;
const whereToAsk: ReadonlySet<OptionName> = new Set(['port', 'host']);

/**
 * `login-relay health`: asks the relay of this machine whether it is ready, for the probes of
 * containers and timers.
 *
 * @returns the exit code: 0 it is ready, 1 it is not, or does not answer
 * @throws {ConfigError} if port or host have faults
 */
export async function health(sources: OptionSources): Promise<0 | 1> {
  const faults: string[] = [];
  const { port, host, tlsCert } = readOptionValues(sources, (name, message) => {
    if (whereToAsk.has(name)) faults.push(describeFault(name, message, sources));
  });
  if (port === undefined || host === undefined) throw new ConfigError(faults);
  const answer = await ask(reachable(host), port, tlsCert !== undefined);
  await print(`${answer}\n`);
  return answer === 'ready' ? 0 : 1;
}

// A relay can listen on a wildcard address (0.0.0.0 or ::), but a client cannot connect to one.
function reachable(host: string): string {
  if (host === '0.0.0.0') return '127.0.0.1';
  return host === '::' ? '::1' : host;
}

function ask(host: string, port: number, isSecure: boolean): Promise<string> {
  return new Promise((resolve) => {
    // The certificate names the public host, not this address. The exchange contains no secret.
    const address = { host, port, path: '/readyz', timeout: patience, rejectUnauthorized: false };
    const request = (isSecure ? getSecurely : get)(address, (response) => {
      response.resume();
      resolve(response.statusCode === 200 ? 'ready' : `not ready (${response.statusCode})`);
    });
    request.on('timeout', () => request.destroy());
    const { protocol } = request;
    const name = host.includes(':') ? `[${host}]` : host;
    request.on('error', () => resolve(`no answer from ${protocol}//${name}:${port}`));
  });
}
