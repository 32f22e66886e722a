import * as v from 'valibot';
import { ConfigError } from '../start-errors.ts';
import { httpUrl, isLoopback } from '../urls.ts';

/**
 * Reads the origin of a page that tries the demo's relay.
 *
 * @throws {ConfigError} unless it is an origin of this machine: at the demo anybody can log in under
 *   any name
 */
export function parseOwnOrigin(text: string): string {
  const { success, output: url } = v.safeParse(httpUrl, text);
  if (!success || !isLoopback(url)) {
    throw new ConfigError([
      '--origin must be the address of a page on this machine, such as http://localhost:5173: at the demo anybody can log in under any name',
    ]);
  }
  if (url.pathname !== '/' || url.search !== '') {
    throw new ConfigError([`--origin must have no path: give ${url.origin}`]);
  }
  return url.origin;
}
