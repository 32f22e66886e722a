import * as v from 'valibot';
import { ConfigError } from '../start-errors.ts';
import { httpUrl, isLoopback } from '../urls.ts';

const tokenDeliveries = ['query', 'fragment', 'code', 'session'] as const;

/** A page of the user's own that logs in at the demo's relay. */
export interface OwnPage {
  readonly origin: string;
  readonly tokenDelivery: (typeof tokenDeliveries)[number];
}

/**
 * Reads what the command line says about a page of the user's own.
 *
 * @returns undefined if there is none
 * @throws {ConfigError} unless it is a page of this machine: at the demo anybody can log in under any
 *   name
 */
export function parseOwnPage(flags: {
  readonly origin?: string;
  readonly tokenDelivery?: string;
}): OwnPage | undefined {
  const { origin: given, tokenDelivery: delivery = 'query' } = flags;
  if (given === undefined) {
    if (flags.tokenDelivery === undefined) return undefined;
    throw new ConfigError(['--token-delivery is for a page of yours: give its --origin, too']);
  }
  const origin = parseOrigin(given);
  const tokenDelivery = tokenDeliveries.find((known) => known === delivery);
  if (tokenDelivery === undefined) {
    throw new ConfigError([`--token-delivery must be one of: ${tokenDeliveries.join(', ')}`]);
  }
  if (tokenDelivery === 'session' && !/^http:\/\/localhost(:|$)/.test(origin)) {
    throw new ConfigError([
      '--token-delivery session needs a page at http://localhost: the cookie stays on the relay’s own site',
    ]);
  }
  return { origin, tokenDelivery };
}

function parseOrigin(text: string): string {
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
