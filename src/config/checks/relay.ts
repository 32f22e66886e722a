import { exampleOf } from '../../origins/origin-pattern.ts';
import { overlap, ownPaths, registrationPath } from '../../paths.ts';
import { isLoopback } from '../../urls.ts';
import type { Reading } from '../reading.ts';
import type { Readings, RelayReading } from '../readings.ts';
import type { Level } from '../settings/setting.ts';
import { type NameAt, namesAt, options, rowAt } from '../settings/settings.ts';
import { describeDelivery } from './describe-delivery.ts';

/** Checks where the relay listens, and at which address browsers see it. */
export function checkListening(relay: RelayReading): void {
  const { values, environment, isGiven, describe, reportFault } = relay;
  const isUnset = !isGiven('baseUrl');
  // In a service of systemd, an empty one has to be filled in, because browsers elsewhere cannot reach the default.
  const isEmpty = isUnset && environment[options.baseUrl.variable] === '';
  if (environment['CREDENTIALS_DIRECTORY'] && isEmpty) {
    reportFault('baseUrl', 'is empty: set it to the public URL of this service');
  }
  if (values.port === 0 && isUnset) {
    reportFault('baseUrl', 'is required with port 0: its default needs a known port');
  }
  if (values.baseUrl?.href.includes('?')) reportFault('baseUrl', 'must not have a query');
  if (values.tlsCert !== undefined && values.baseUrl?.protocol === 'http:') {
    reportFault('baseUrl', `must start with https:// with ${describe('tlsCert')}`);
  }
}

/**
 * Warns about a base path with which addresses look like other addresses of the relay. The relay answers with and
 * without the base path, and these few addresses keep the meaning that they have without it.
 */
export function warnOfAmbiguousPath({ relay, registrations, frontEnds }: Readings): void {
  const { pathname } = new URL(relay.baseUrl);
  if (pathname === '/') return;
  const apis = frontEnds.flatMap((one) => one.apis.flatMap(({ values }) => values.path ?? []));
  const words = registrations.flatMap(({ name, values }) => [name, values.provider ?? name]);
  const others = [...apis, ...registrations.flatMap(({ values }) => values.callbackPath ?? [])];
  const own = [...words.map(registrationPath), ...others];
  const passedOn = [...ownPaths, ...others].map((path) => pathname + path);
  const taken = own.find((path) => passedOn.some((one) => overlap(one, path)));
  if (taken === undefined) return;
  relay.warn(
    'baseUrl',
    `makes the relay's addresses look like paths below ${taken}: the proxy must remove ${pathname}`,
  );
}

/** Whether every request comes from an untrusted proxy, so that no client address is known. */
export function isBehindUnknownProxy({ values, baseUrl }: RelayReading): boolean {
  const isClientKnown = values.trustedProxies !== undefined || values.tlsCert !== undefined;
  return !isClientKnown && baseUrl.startsWith('https:');
}

/** Checks whether the relay can know the addresses of clients, if anything needs them. */
export function checkClientAddresses({ relay, resources, frontEnds }: Readings): void {
  const { values, describe, warn, warnOfUnused } = relay;
  const { rateLimit, refusedExchanges, logClientAddress } = values;
  // Shares of the gateway and of provider APIs, and the number of registrations, are also limited by client address.
  const haveShares =
    resources.some((one) => one.values.upstream !== undefined) ||
    frontEnds.some(({ apis, clients }) => apis.length > 0 || clients !== undefined);
  // A trusted proxy says which address of a resource a browser asks for.
  const areAsked = resources.some(({ browser }) => browser !== undefined);
  const areCounted = areAsked || rateLimit !== undefined || refusedExchanges !== 0 || haveShares;
  if (!areCounted && logClientAddress === 'off') warnOfUnused(['trustedProxies'], ` without ${describe('rateLimit')}`);
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
  const apis = frontEnds.flatMap((one) => one.apis);
  for (const one of [relay, ...frontEnds, ...registrations, ...resources, ...apis]) {
    for (const name of plainAddresses(one)) one.reportFault(name, why);
  }
}

/** The settings whose value is a plain http address beyond this machine, with or without a `*`. */
function plainAddresses<At extends Level>({ level, values }: Reading<At>): readonly NameAt<At>[] {
  return namesAt(level).filter((name) => {
    if (!rowAt(level, name).isAddress) return false;
    const given: unknown = values[name];
    return (Array.isArray(given) ? given : [given]).some((one: unknown) => {
      const url = typeof one === 'string' ? URL.parse(exampleOf(one)) : one;
      return url instanceof URL && url.protocol === 'http:' && !isLoopback(url);
    });
  });
}

export function warnWithoutSessions({ relay, frontEnds }: Readings): void {
  if (describeDelivery(frontEnds, ['session']) !== undefined) return;
  relay.warnOfUnused(['sessionLifetime', 'sessionIdle'], ': no front end has sessions');
}

/**
 * Reports settings that need a key file. Call it if there is none. Refresh tokens only cause a warning, because the
 * relay then issues none.
 */
export function reportMissingKey({ relay, resources, frontEnds }: Readings): void {
  const report = (what: string, why: string) => relay.reportFault('keyFile', `is required with ${what}: ${why}`);
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
