import { ownParameters, protocolParameters } from '../../oauth/parameters.ts';
import { type ProviderSettings, readProviderSettings } from '../provider-settings.ts';
import type { Reading } from '../reading.ts';

/** Reads the provider of a registration. Undefined after reporting faults. */
export function readProvider(reading: Reading, baseUrl: string): ProviderSettings | undefined {
  const provider = readProviderSettings(reading, baseUrl);
  for (const setting of ['authorizeUrl', 'tokenUrl', 'userUrl', 'revocationUrl'] as const) {
    reportOwnParameters(reading, setting, ownParameters[setting]);
  }
  reportProtocolParameters(reading);
  reportUnsendable(reading);
  warnOfTwoProviders(reading);
  return provider;
}

/** Reports parameters that would change the meaning of the relay's own. */
function reportProtocolParameters({ values, fault }: Reading): void {
  const endpoints = { authorizeParams: 'authorizeUrl', tokenParams: 'tokenUrl' } as const;
  for (const setting of ['authorizeParams', 'tokenParams'] as const) {
    const names: readonly string[] = protocolParameters[endpoints[setting]];
    const taken = values[setting]?.find(([name]) => names.includes(name));
    if (taken) fault(setting, `must not have ${taken[0]}: it is a parameter of the protocol`);
  }
}

/** Reports a client identifier that Basic cannot carry. @see RFC 7617 §2 */
function reportUnsendable({ values, describe, fault }: Reading): void {
  if (values.tokenRequest !== 'basic-raw' || !values.clientId?.includes(':')) return;
  fault('tokenRequest', `cannot be basic-raw: ${describe('clientId')} has a colon`);
}

/** Warns if only some endpoints are configured: secret or token would go to the preset's provider. */
function warnOfTwoProviders({ values, sourceOf, describe, warn }: Reading): void {
  if (sourceOf('provider') ?? sourceOf('issuer')) return;
  const endpoints = ['authorizeUrl', 'tokenUrl', 'userUrl'] as const;
  const byDefault = endpoints.filter((name) => values[name] === undefined);
  if (byDefault.length === endpoints.length && values.revocationUrl === undefined) return;
  for (const name of byDefault) {
    warn(
      name,
      `is that of ${values.provider} by default, but other endpoints are configured: set it too, or set ${describe('provider')} explicitly`,
    );
  }
}

/** Reports a parameter in a URL's query that the relay itself adds: it must not be there twice. */
export function reportOwnParameters(
  { values, fault }: Reading,
  setting: 'authorizeUrl' | 'tokenUrl' | 'userUrl' | 'revocationUrl' | 'frontendUrl',
  parameters: readonly string[],
): void {
  const query = values[setting]?.searchParams;
  const taken = parameters.find((parameter) => query?.has(parameter));
  if (taken) fault(setting, `must not have ${taken} in its query: the relay adds it`);
}
