import { exampleOf } from '../../origins/origin-pattern.ts';
import { isLoopback } from '../../urls.ts';
import type { Reading } from '../reading.ts';
import type { Level } from '../settings/setting.ts';
import { namesAt, options, rowAt } from '../settings/settings.ts';

/** The relay's public address, without a final slash. */
export function baseUrlOf({ values }: Reading<'relay'>): string {
  const scheme = values.tlsCert === undefined ? 'http' : 'https';
  // A faulty port is left out: other faults are then found as well.
  const ownAddress = `${scheme}://localhost:${values.port ?? ''}`;
  return (values.baseUrl?.href ?? ownAddress).replace(/\/+$/, '');
}

/** Checks where the relay listens, and under which address browsers see it. */
export function checkListening({
  values,
  environment,
  sourceOf,
  describe,
  fault,
}: Reading<'relay'>): void {
  const isUnset = sourceOf('baseUrl') === undefined;
  const isEmpty = isUnset && environment[options.baseUrl.variable] === '';
  if (environment['CREDENTIALS_DIRECTORY'] && isEmpty) {
    fault('baseUrl', 'is empty: set it to the public URL of this service');
  }
  if (values.port === 0 && isUnset) {
    fault('baseUrl', 'is required with port 0: its default needs a known port');
  }
  if (values.baseUrl?.href.includes('?')) fault('baseUrl', 'must not have a query');
  if (values.tlsCert !== undefined && values.baseUrl?.protocol === 'http:') {
    fault('baseUrl', `must start with https:// with ${describe('tlsCert')}`);
  }
}

/** Checks how clients are told apart. Returns whether a proxy that is not trusted hides them all. */
export function checkClients(
  { values, describe, warn, warnOfUnused }: Reading<'relay'>,
  baseUrl: string,
): boolean {
  const { rateLimit, refusedExchanges, trustedProxies, tlsCert, logClientAddress } = values;
  const used = rateLimit !== undefined || refusedExchanges !== 0 || logClientAddress !== 'off';
  if (!used) warnOfUnused(['trustedProxies'], ` without ${describe('rateLimit')}`);
  const isDirect = trustedProxies !== undefined || tlsCert !== undefined;
  if (isDirect || !baseUrl.startsWith('https:')) return false;
  const remedy = `name the proxy that terminates TLS in ${describe('trustedProxies')}`;
  if (rateLimit !== undefined) warn('rateLimit', `counts everyone as one client: ${remedy}`);
  if (logClientAddress !== 'off') {
    warn('logClientAddress', `logs the proxy's address in place of the client's: ${remedy}`);
  }
  if (refusedExchanges) {
    warn('refusedExchanges', `has no effect, since no client address is known: ${remedy}`);
  }
  return true;
}

/** Checks the metrics port. */
export function checkMetrics({ values, describe, fault, warnOfUnused }: Reading<'relay'>): void {
  const { port, host, metricsPort, metricsHost } = values;
  if (port && port === metricsPort && host === metricsHost) {
    fault('metricsPort', `must not be the port of ${describe('port')}`);
  }
  if (metricsPort === undefined) {
    warnOfUnused(['metricsHost'], ` without ${describe('metricsPort')}`);
  }
}

/** Reports http:// addresses beyond this machine, unless they are allowed. */
export function reportPlainHttp<At extends Level>(
  { level, values, fault }: Reading<At>,
  relay: Reading<'relay'>,
): void {
  if (relay.values.insecureHttp !== false) return;
  for (const name of namesAt(level).filter((one) => rowAt(level, one).address)) {
    const given: unknown = values[name];
    const url = typeof given === 'string' ? new URL(exampleOf(given)) : given;
    if (!(url instanceof URL) || url.protocol !== 'http:' || isLoopback(url)) continue;
    fault(
      name,
      `must start with https://. http:// is only for this machine, unless ${relay.describe('insecureHttp')} allows it`,
    );
  }
}

/** @param sessionDelivery describes a front end that has sessions; undefined: none has */
export function checkSessions(
  { fault, warnOfUnused }: Reading<'relay'>,
  sessionDelivery: string | undefined,
  baseUrl: string,
  hasKeyFile: boolean,
): void {
  if (sessionDelivery === undefined) {
    warnOfUnused(['sessionLifetime', 'sessionIdle'], ': no front end has sessions');
  } else if (!hasKeyFile && !isLoopback(new URL(baseUrl))) {
    fault(
      'keyFile',
      `is required with ${sessionDelivery}: otherwise anyone who knows the client secret could decrypt sessions`,
    );
  }
}
