import { ownParameters } from '../oauth/parameters.ts';
import { isLoopback } from '../urls.ts';
import { type OptionSources, type Report, sourceOf } from './option-values.ts';
import { describeOption, type OptionValues } from './options.ts';

/** What the relay itself puts into the queries of these addresses. */
const takenParameters = {
  ...ownParameters,
  frontendUrl: ['access_token', 'state', 'error', 'error_description', 'request_id'],
} as const;

/** Reports values that are well formed, but do not go together. */
export function reportContradictions(values: OptionValues, fault: Report): void {
  if (values.baseUrl?.href.includes('?')) fault('baseUrl', 'must not have a query');
  if (values.frontendUrl && values.origin && values.frontendUrl.origin !== values.origin) {
    fault('frontendUrl', `must be inside ${describeOption('origin')}`);
  }
  if (values.tlsCert !== undefined && values.baseUrl?.protocol === 'http:') {
    fault('baseUrl', `must start with https:// with ${describeOption('tlsCert')}`);
  }
  reportOwnParameters(values, fault);
  const { port, host, metricsPort, metricsHost } = values;
  if (port !== undefined && port !== 0 && port === metricsPort && host === metricsHost) {
    fault('metricsPort', `must not be the port of ${describeOption('port')}`);
  }
  reportPlainHttp(values, fault);
}

function reportPlainHttp(values: OptionValues, fault: Report): void {
  if (values.insecureHttp !== false) return;
  const addresses = {
    baseUrl: values.baseUrl,
    origin: values.origin === undefined ? undefined : new URL(values.origin),
    authorizeUrl: values.authorizeUrl,
    tokenUrl: values.tokenUrl,
    userUrl: values.userUrl,
    issuer: values.issuer === undefined ? undefined : new URL(values.issuer),
  };
  for (const name of Object.keys(addresses) as (keyof typeof addresses)[]) {
    const url = addresses[name];
    if (url?.protocol === 'http:' && !isLoopback(url)) {
      fault(
        name,
        `must start with https://: http is for this machine alone, unless ${describeOption('insecureHttp')} allows it`,
      );
    }
  }
}

// A parameter that is there twice is an error, or means whatever its reader makes of it.
function reportOwnParameters(values: OptionValues, fault: Report): void {
  for (const name of Object.keys(takenParameters) as (keyof typeof takenParameters)[]) {
    const taken = takenParameters[name].find((parameter) =>
      values[name]?.searchParams.has(parameter),
    );
    if (taken) fault(name, `must not have ${taken} in its query: the relay puts it there itself`);
  }
}

/** Warns of values that go together, though hardly anybody means them to. */
export function warnOfDoubts(
  values: OptionValues,
  sources: OptionSources,
  baseUrl: string,
  warn: Report,
): void {
  warnOfRateLimits(values, baseUrl, warn);
  warnOfTwoProviders(values, sources, warn);
  warnOfNoEffect(values, sources, warn);
}

function warnOfNoEffect(values: OptionValues, sources: OptionSources, warn: Report): void {
  if (sourceOf('metricsHost', sources) !== undefined && values.metricsPort === undefined) {
    warn('metricsHost', `has no effect without ${describeOption('metricsPort')}`);
  }
  if (values.stateKeyFile !== undefined && values.stateCheck === 'off') {
    warn('stateKeyFile', `has no effect with ${describeOption('stateCheck')} off`);
  }
}

/** Whether every request comes from a proxy that ends TLS, and none is trusted. */
export function isBehindUnknownProxy(
  { trustedProxies, tlsCert }: OptionValues,
  baseUrl: string,
): boolean {
  return trustedProxies === undefined && tlsCert === undefined && baseUrl.startsWith('https:');
}

function warnOfRateLimits(values: OptionValues, baseUrl: string, warn: Report): void {
  const { rateLimit, refusedExchanges, trustedProxies, logClientAddress } = values;
  const used = rateLimit !== undefined || refusedExchanges !== 0 || logClientAddress !== 'off';
  if (!used && trustedProxies !== undefined) {
    warn('trustedProxies', `has no effect without ${describeOption('rateLimit')}`);
  }
  if (!isBehindUnknownProxy(values, baseUrl)) return;
  const remedy = `name the proxy that ends TLS in ${describeOption('trustedProxies')}`;
  if (rateLimit !== undefined) warn('rateLimit', `counts everyone as one client: ${remedy}`);
  if (logClientAddress !== 'off') {
    warn('logClientAddress', `logs the proxy's address in place of the client's: ${remedy}`);
  }
  if (refusedExchanges) {
    warn('refusedExchanges', `has no effect, since no client address is known: ${remedy}`);
  }
}

// The client secret, or the token, would go to a provider that nobody may have thought of.
function warnOfTwoProviders(values: OptionValues, sources: OptionSources, warn: Report): void {
  if (sourceOf('provider', sources) ?? sourceOf('issuer', sources)) return;
  const endpoints = ['authorizeUrl', 'tokenUrl', 'userUrl'] as const;
  const byDefault = endpoints.filter((name) => values[name] === undefined);
  if (byDefault.length === endpoints.length) return;
  for (const name of byDefault) {
    warn(
      name,
      `is that of ${values.provider}, unlike others: give it too, or ${describeOption('provider')} where that is meant`,
    );
  }
}
