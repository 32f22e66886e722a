import type { Config } from '../config/config.ts';
import { describeOption } from '../config/settings/settings.ts';
import { headerSizeFor } from '../relay/running-relay.ts';

/** What the relay reads only when it starts. */
const fixed = {
  port: ({ port }: Config) => port,
  host: ({ host }: Config) => host,
  maxConnections: ({ maxConnections }: Config) => maxConnections,
  tlsCert: ({ certificate }: Config) => certificate !== undefined,
  metricsPort: ({ metrics }: Config) => metrics?.port,
  // Without a port, the host means nothing.
  metricsHost: ({ metrics }: Config, other: Config) => other.metrics && metrics?.host,
  logLevel: ({ logLevel }: Config) => logLevel,
  logFormat: ({ logFormat }: Config) => logFormat,
} as const;

const names = Object.keys(fixed) as (keyof typeof fixed)[];

/**
 * Warns of settings that have changed since the start, and that a reload cannot change.
 *
 * @param hasSocket whether systemd passes the socket: port and host then have no effect at all
 */
export function restartWarnings(
  started: Config,
  reloaded: Config,
  hasSocket: boolean,
): readonly string[] {
  const warnings = names
    .filter((name) => !(hasSocket && (name === 'port' || name === 'host')))
    .filter((name) => fixed[name](started, reloaded) !== fixed[name](reloaded, started))
    .map((name) => `${describeOption(name)} has changed: restart the relay to use it`);
  if (headerSizeFor(reloaded) <= headerSizeFor(started)) return warnings;
  return [...warnings, 'a front end has sessions now: restart the relay to make room for cookies'];
}
