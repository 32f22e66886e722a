import type { Option } from '../option.ts';
import { checked, type Reading } from '../reading.ts';
import * as schemas from '../schemas.ts';

/** How many requests one client may send, and how a client is recognised. */
export interface Clients {
  /** Callbacks, user lookups, token requests and revocations a minute, together. Undefined: no limit. */
  readonly rateLimit: number | undefined;
  /** Refused token exchanges in ten minutes; 0: no limit. */
  readonly refusedExchanges: number;
  /** Proxies whose `X-Forwarded-For` is trusted. */
  readonly trustedProxies: readonly string[];
  /** Whether all requests come from a proxy that is not trusted, so that no client is known. */
  readonly behindUnknownProxy: boolean;
}

/** The options of {@link Clients}. */
export const clientOptions = {
  rateLimit: {
    flag: '--rate-limit',
    argument: '<number>',
    variable: 'RATE_LIMIT',
    group: 'Listening',
    help: 'maximum number of callbacks, user lookups, token requests, revocations and requests of sessions, together, per minute and client address',
    otherwise: 'off',
    schema: schemas.wholeNumber(1, 1_000_000),
  },
  refusedExchanges: {
    flag: '--refused-exchanges',
    argument: '<number>',
    variable: 'REFUSED_EXCHANGES',
    group: 'Listening',
    help: 'maximum number of codes and tokens per client address that the provider may refuse in ten minutes; 0: no limit',
    default: '10',
    schema: schemas.wholeNumber(0, 1_000_000),
  },
  trustedProxies: {
    flag: '--trusted-proxies',
    argument: '<addresses>',
    variable: 'TRUSTED_PROXIES',
    group: 'Listening',
    help: 'comma-separated IPs or CIDRs of proxies whose X-Forwarded-For is trusted; unix: any proxy that connects through a Unix socket',
    otherwise: 'none',
    schema: schemas.trustedProxies,
  },
} as const satisfies Record<string, Option>;

/** Reads the section. The result gives its values; call it only if no fault was reported. */
export function readClients(reading: Reading, baseUrl: string): () => Clients {
  const { values, describe, warn } = reading;
  const { rateLimit, refusedExchanges, trustedProxies, tlsCert, logClientAddress } = values;
  const used = rateLimit !== undefined || refusedExchanges !== 0 || logClientAddress !== 'off';
  if (!used && trustedProxies !== undefined) {
    warn('trustedProxies', `has no effect without ${describe('rateLimit')}`);
  }
  const behindUnknownProxy =
    trustedProxies === undefined && tlsCert === undefined && baseUrl.startsWith('https:');
  if (behindUnknownProxy) warnOfUnknownProxy(reading);
  return () => ({
    rateLimit,
    refusedExchanges: checked(refusedExchanges),
    trustedProxies: trustedProxies ?? [],
    behindUnknownProxy,
  });
}

function warnOfUnknownProxy({ values, describe, warn }: Reading): void {
  const remedy = `name the proxy that terminates TLS in ${describe('trustedProxies')}`;
  if (values.rateLimit !== undefined) {
    warn('rateLimit', `counts everyone as one client: ${remedy}`);
  }
  if (values.logClientAddress !== 'off') {
    warn('logClientAddress', `logs the proxy's address in place of the client's: ${remedy}`);
  }
  if (values.refusedExchanges) {
    warn('refusedExchanges', `has no effect, since no client address is known: ${remedy}`);
  }
}
