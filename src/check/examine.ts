import type { Config } from '../config/config.ts';
import type { OptionSources } from '../config/option-values.ts';
import type { Provider } from '../providers/provider.ts';
import { createProviderClient } from '../upstream/client.ts';
import { version } from '../version.ts';
import { checkAddresses, checkProviderAddresses } from './addresses.ts';
import { checkAuthorizationEndpoint } from './authorization-endpoint.ts';
import { checkBaseUrl } from './base-url.ts';
import { describeClientSecret } from './client-secret-source.ts';
import { checkClock } from './clock.ts';
import { checkDiscovery } from './discovery.ts';
import type { Finding } from './finding.ts';
import { fixUrl } from './fix-url.ts';
import { checkFrontEnd } from './front-end.ts';
import { createProbe, type Probe } from './probe.ts';
import { checkProxy } from './proxy.ts';
import { checkTokenEndpoint } from './token-endpoint.ts';
import { checkUserEndpoint } from './user-endpoint.ts';
import { watched } from './watched-client.ts';

const concurrentCalls = 5;
// RFC 7636 §4.1: at least 43 characters.
const madeUpVerifier = 'login-relay-check'.padEnd(43, '-');

/** What the checks of a configuration that has no faults found. */
export interface Examination {
  readonly findings: readonly Finding[];
  /** Undefined if its issuer did not describe it. */
  readonly provider: Provider | undefined;
}

/**
 * Checks the relay's own addresses, and asks the provider with a code and a token that nobody issued.
 *
 * @param sources where the configuration came from: what to change depends on it
 * @param now milliseconds since 1970
 */
export async function examine(
  config: Config,
  sources: OptionSources,
  now: () => number,
): Promise<Examination> {
  const limits = { timeout: config.providerTimeout, concurrentCalls };
  const client = createProviderClient(`login-relay/${version}`, limits, config.proxy);
  const providerClient = watched(client, now);
  try {
    const { findings: ofProxy, proxyError } = await checkProxy(config.proxy, limits.timeout);
    const probe = createProbe(client, proxyError);
    const ownAddresses = Promise.all([checkBaseUrl(probe, config), checkFrontEnd(probe, config)]);
    const { provider, findings: ofProvider } = await findProvider();
    if (provider !== undefined) {
      const probeProvider = createProbe(providerClient, proxyError);
      ofProvider.push(...checkProviderAddresses(provider));
      ofProvider.push(...(await checkEndpoints(probeProvider, config, sources, provider)));
    }
    const findings = [
      ...checkAddresses(config),
      ...(await ownAddresses),
      ...ofProxy,
      ...ofProvider,
      ...checkClock(providerClient.clockAhead()),
    ];
    return { findings, provider };

    async function findProvider(): Promise<{ provider?: Provider; findings: Finding[] }> {
      if ('known' in config.provider) return { provider: config.provider.known, findings: [] };
      const { discovered } = config.provider;
      const { finding, ...found } = await checkDiscovery(providerClient, discovered, proxyError);
      return { ...found, findings: [finding] };
    }
  } finally {
    client.close();
  }
}

function checkEndpoints(
  probe: Probe,
  config: Config,
  sources: OptionSources,
  provider: Provider,
): Promise<Finding[]> {
  const verifier = provider.pkce ? madeUpVerifier : undefined;
  const authorizeFix = fixUrl('authorizeUrl', sources);
  const tokenFix = {
    url: fixUrl('tokenUrl', sources),
    clientSecret: describeClientSecret(sources),
  };
  return Promise.all([
    checkAuthorizationEndpoint(probe, config, provider, verifier, authorizeFix),
    checkTokenEndpoint(probe, config, provider, verifier, tokenFix),
    checkUserEndpoint(probe, provider, fixUrl('userUrl', sources)),
  ]);
}
