import type { Config } from '../config/config.ts';
import type { OptionSources } from '../config/option-values.ts';
import type { Provider } from '../providers/provider.ts';
import { createProviderClient } from '../upstream/client.ts';
import { version } from '../version.ts';
import { judgeAddresses, judgeProviderAddresses } from './addresses.ts';
import { examineAuthorizationEndpoint } from './authorization-endpoint.ts';
import { describeClientSecret } from './client-secret-source.ts';
import { judgeClock } from './clock.ts';
import { examineDiscovery } from './discovery.ts';
import type { Finding } from './finding.ts';
import { type EndpointOption, mendUrl } from './mend-url.ts';
import { createProbe, type Probe } from './probe.ts';
import { examineProxy } from './proxy.ts';
import { examineTokenEndpoint } from './token-endpoint.ts';
import { examineUserEndpoint } from './user-endpoint.ts';
import { watched } from './watched-client.ts';

/** What looking at a configuration and its provider has brought. */
export interface Examination {
  readonly findings: readonly Finding[];
  /** Undefined where its issuer did not tell. */
  readonly provider: Provider | undefined;
}

/**
 * Looks at the configuration and at the provider, with a code and a token that nobody issued.
 *
 * @param sources where the configuration came from: what has to be changed depends on it
 * @param now milliseconds since 1970
 */
export async function examine(
  config: Config,
  sources: OptionSources,
  now: () => number,
): Promise<Examination> {
  const limits = { timeout: config.providerTimeout, concurrentCalls: 3 };
  const client = watched(createProviderClient(`login-relay/${version}`, limits, config.proxy), now);
  try {
    const findings = judgeAddresses(config);
    const { findings: ofProxy, proxyError } = await examineProxy(
      config.proxy,
      config.providerTimeout,
    );
    findings.push(...ofProxy);
    let provider: Provider | undefined;
    if ('known' in config.provider) {
      provider = config.provider.known;
    } else {
      const { discovered } = config.provider;
      const discovery = await examineDiscovery(client, discovered, proxyError);
      findings.push(discovery.finding);
      provider = discovery.provider;
    }
    if (provider !== undefined) {
      const probe = createProbe(client, proxyError);
      findings.push(...judgeProviderAddresses(provider));
      findings.push(...(await examineEndpoints(probe, config, sources, provider)));
    }
    findings.push(...judgeClock(client.clockAhead()));
    return { findings, provider };
  } finally {
    client.close();
  }
}

function examineEndpoints(
  probe: Probe,
  config: Config,
  sources: OptionSources,
  provider: Provider,
): Promise<Finding[]> {
  const verifier = provider.pkce ? madeUpVerifier : undefined;
  const mend = (name: EndpointOption) => mendUrl(name, sources);
  return Promise.all([
    examineAuthorizationEndpoint(probe, config, provider, verifier, mend('authorizeUrl')),
    examineTokenEndpoint(probe, config, provider, verifier, {
      url: mend('tokenUrl'),
      clientSecret: describeClientSecret(sources),
    }),
    examineUserEndpoint(probe, provider, mend('userUrl')),
  ]);
}

// RFC 7636 §4.1: 43 characters at least.
const madeUpVerifier = 'login-relay-check'.padEnd(43, '-');
