import { exampleOrigin } from '../../origins/origin-pattern.ts';
import { doPathsOverlap, ownPaths, registrationPath } from '../../paths.ts';
import { isHttps, isLoopback } from '../../urls.ts';
import type { Reading } from '../map-reading.ts';
import type { Readings, RelayReading } from '../readings.ts';
import type { Level } from '../settings/setting.ts';
import { type NameAt, namesAt, options, rowAt } from '../settings/settings.ts';
import { describeDelivery } from './describe-delivery.ts';

/** Checks where the relay listens, and at which address browsers see it. */
export function checkListening(relay: RelayReading): void {
  const { values, environment, isGiven, describe, reportFault } = relay;
  const isDefault = !isGiven('baseUrl');
  // The packaged systemd service leaves the variable empty, because browsers elsewhere could not reach the default URL.
  const isLeftEmpty = isDefault && environment[options.baseUrl.variable] === '';
  if (environment['CREDENTIALS_DIRECTORY'] && isLeftEmpty) {
    reportFault('baseUrl', 'is empty: set it to the public URL of this service');
  }
  if (values.port === 0 && isDefault) {
    reportFault('baseUrl', 'is required with port 0: its default needs a known port');
  }
  if (values.baseUrl?.href.includes('?')) reportFault('baseUrl', 'must not have a query');
  if (values.tlsCert !== undefined && values.baseUrl?.protocol === 'http:') {
    reportFault('baseUrl', `must start with https:// with ${describe('tlsCert')}`);
  }
}

/**
 * Warns if the path of the base URL makes an address ambiguous, because the relay answers with and without that path.
 * With the base path `/auth`, `/auth/auth/session` may be the relay's own `/auth/session`, or a path of a registration
 * that is called `auth`.
 */
export function warnOfAmbiguousPath({ relay, registrations, frontEnds }: Readings): void {
  const { pathname: basePath } = new URL(relay.baseUrl);
  if (basePath === '/') return;
  const apiPaths = frontEnds.flatMap(({ apis }) => apis.flatMap(({ values }) => values.path ?? []));
  const callbackPaths = registrations.flatMap(({ values }) => values.callbackPath ?? []);
  const words = registrations.flatMap(({ name, values }) => [name, values.provider ?? name]);
  const configured = [...words.map(registrationPath), ...apiPaths, ...callbackPaths];
  const withBasePath = [...ownPaths, ...apiPaths, ...callbackPaths].map((path) => basePath + path);
  const ambiguous = configured.find((path) => withBasePath.some((other) => doPathsOverlap(other, path)));
  if (ambiguous === undefined) return;
  relay.warn(
    'baseUrl',
    `makes the relay's addresses look like paths below ${ambiguous}: the proxy must remove ${basePath}`,
  );
}

/** Whether every request comes from an untrusted proxy, so that no client address is known. */
export function isBehindUnknownProxy({ values, baseUrl }: RelayReading): boolean {
  // Without a certificate of its own, a relay at https:// has a proxy in front, which terminates TLS.
  const isBehindProxy = isHttps(baseUrl) && values.tlsCert === undefined;
  return isBehindProxy && values.trustedProxies === undefined;
}

/** Warns about trusted proxies that nothing needs, and about settings that need them if there are none. */
export function checkClientAddresses({ relay, resources, frontEnds }: Readings): void {
  const { values, describe, warn, warnOfUnused } = relay;
  const { rateLimit, refusedExchanges, logClientAddress } = values;
  // The gateway, provider APIs and new registrations also have a share for each client address.
  const hasSharesByAddress =
    resources.some((resource) => resource.values.upstream !== undefined) ||
    frontEnds.some(({ apis, clients }) => apis.length > 0 || clients !== undefined);
  const countsAddresses = rateLimit !== undefined || refusedExchanges !== 0 || hasSharesByAddress;
  // Only a trusted proxy may say which page of a resource a browser asks for.
  const opensToBrowsers = resources.some(({ browser }) => browser !== undefined);
  if (!countsAddresses && !opensToBrowsers && logClientAddress === 'off') {
    warnOfUnused(['trustedProxies'], ` without ${describe('rateLimit')}`);
  }
  if (!isBehindUnknownProxy(relay)) return;
  const remedy = `name the proxy that terminates TLS in ${describe('trustedProxies')}`;
  if (rateLimit !== undefined) warn('rateLimit', `counts everyone as one client: ${remedy}`);
  if (logClientAddress !== 'off') {
    warn('logClientAddress', `logs the proxy's address in place of the client's: ${remedy}`);
  }
  if (refusedExchanges) {
    warn('refusedExchanges', `has no effect, since no client address is known: ${remedy}`);
  }
}

/** Reports metrics on the relay's own port, and settings of metrics that are off. */
export function checkMetrics({ values, describe, reportFault, warnOfUnused }: RelayReading): void {
  const { port, host, metricsPort, metricsHost } = values;
  if (port && port === metricsPort && host === metricsHost) {
    reportFault('metricsPort', `must not be the port of ${describe('port')}`);
  }
  if (metricsPort === undefined) {
    warnOfUnused(['metricsHost', 'metricsNames'], ` without ${describe('metricsPort')}`);
  }
}

/** Reports http:// addresses beyond this machine, unless they are allowed. */
export function reportPlainHttp({ relay, registrations, resources, frontEnds }: Readings): void {
  if (relay.values.insecureHttp !== false) return;
  const why = `must start with https://. http:// is only for this machine, unless ${relay.describe('insecureHttp')} allows it`;
  const apis = frontEnds.flatMap((frontEnd) => frontEnd.apis);
  for (const reading of [relay, ...frontEnds, ...registrations, ...resources, ...apis]) {
    for (const name of settingsWithPlainHttp(reading)) reading.reportFault(name, why);
  }
}

/** The settings with a plain http address beyond this machine, with or without a `*`. */
function settingsWithPlainHttp<At extends Level>({ level, values }: Reading<At>): readonly NameAt<At>[] {
  const addressSettings = namesAt(level).filter((name) => rowAt(level, name).isAddress);
  return addressSettings.filter((name) => {
    const value: unknown = values[name];
    const addresses: readonly unknown[] = Array.isArray(value) ? value : [value];
    return addresses.some((address) => {
      const url = typeof address === 'string' ? URL.parse(exampleOrigin(address)) : address;
      return url instanceof URL && url.protocol === 'http:' && !isLoopback(url);
    });
  });
}

/** Warns about settings of sessions if no front end has any. */
export function warnWithoutSessions({ relay, frontEnds }: Readings): void {
  if (describeDelivery(frontEnds, ['session']) !== undefined) return;
  relay.warnOfUnused(['sessionLifetime', 'sessionIdle'], ': no front end has sessions');
}

/**
 * Reports settings that need a key file. Call it if there is none. Refresh tokens do not count, because without a key
 * file the relay issues none.
 */
export function reportMissingKey({ relay, resources, frontEnds }: Readings): void {
  const report = (needing: string, why: string) => relay.reportFault('keyFile', `is required with ${needing}: ${why}`);
  const otherwise = 'otherwise anyone who knows the client secret could';
  const session = describeDelivery(frontEnds, ['session']);
  if (resources.length > 0) report('resources', `${otherwise} make their tokens`);
  if (session && !isLoopback(new URL(relay.baseUrl))) {
    report(session, `${otherwise} decrypt sessions`);
  }
  if (relay.values.sharedMemory !== undefined) {
    report(relay.describe('sharedMemory'), 'relays must read what other relays sealed');
  }
}
