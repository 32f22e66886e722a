import type { LoginConfig } from '../config/login-config.ts';
import type { OptionSources } from '../config/option-values.ts';
import type { Provider } from '../providers/provider.ts';
import { createUpstreamClient, type UpstreamResponse } from '../upstream/client.ts';
import { version } from '../version.ts';
import { checkAddresses } from './addresses.ts';
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
import { checkScope } from './scope.ts';
import { checkTokenEndpoint } from './token-endpoint.ts';
import { checkTokens } from './tokens.ts';
import { checkUserEndpoint } from './user-endpoint.ts';

// More than all checks make at once. Each redirect URI is one.
const concurrentCalls = 64;
// RFC 7636 §4.1: at least 43 characters.
const madeUpVerifier = 'login-relay-check'.padEnd(43, '-');

/** What the checks of a configuration without faults found. */
export interface Examination {
  readonly findings: readonly Finding[];
  /** Undefined if its issuer did not describe it. */
  readonly provider: Provider | undefined;
}

/**
 * Checks the relay's own addresses, and calls the provider with a made-up code and token.
 *
 * @param sources flags and variables. The advice depends on the source of a setting.
 * @param now milliseconds since 1970
 */
export async function examine(
  config: LoginConfig,
  sources: OptionSources,
  now: () => number,
): Promise<Examination> {
  const limits = { timeout: config.providerTimeout, concurrentCalls };
  const client = createUpstreamClient(`login-relay/${version}`, limits, config.proxy);
  try {
    const { findings: ofProxy, proxyError } = await checkProxy(config.proxy, limits.timeout);
    const probe = createProbe(client, proxyError);
    const ownAddresses = Promise.all([
      checkBaseUrl(probe, config, madeUpVerifier),
      checkFrontEnd(probe, config),
    ]);
    const { finding: ofDiscovery, provider } =
      'known' in config.provider
        ? { finding: [], provider: config.provider.known }
        : await checkDiscovery(client, config, config.provider.discovered, proxyError);
    const ofProvider =
      provider === undefined ? [] : await checkEndpoints(probe, config, sources, provider, now);
    const findings = [
      checkAddresses(config, provider),
      ...(await ownAddresses),
      ofProxy,
      ofDiscovery,
      provider ? [...checkScope(provider), ...checkTokens(config, provider)] : [],
      ofProvider,
    ].flat();
    return { findings, provider };
  } finally {
    client.close();
  }
}

async function checkEndpoints(
  probe: Probe,
  config: LoginConfig,
  sources: OptionSources,
  provider: Provider,
  now: () => number,
): Promise<Finding[]> {
  let lastAnswer: UpstreamResponse | undefined;
  const ask: Probe = async (request) => {
    const probed = await probe(request);
    if ('answer' in probed) lastAnswer = probed.answer;
    return probed;
  };
  const authorizeFix = fixUrl('authorizeUrl', sources);
  const tokenFix = {
    url: fixUrl('tokenUrl', sources),
    clientSecret: describeClientSecret(sources),
  };
  const findings = await Promise.all([
    checkAuthorizationEndpoint(ask, config, provider, madeUpVerifier, authorizeFix),
    checkTokenEndpoint(ask, config, provider, madeUpVerifier, tokenFix),
    checkUserEndpoint(ask, provider, fixUrl('userUrl', sources)),
  ]);
  return [...findings.flat(), ...checkClock(lastAnswer, now())];
}
