import type { LoginConfig } from '../config/login-config.ts';
import type { Naming } from '../config/reading.ts';
import type { Provider } from '../providers/provider.ts';
import { createUpstreamClient, type UpstreamClient } from '../upstream/client.ts';
import { userAgent } from '../version.ts';
import { checkAddresses } from './addresses.ts';
import { checkAuthorizationEndpoint } from './authorization-endpoint.ts';
import { checkBaseUrl } from './base-url.ts';
import { checkDiscovery } from './discovery.ts';
import type { Finding } from './finding.ts';
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
 * @param naming names the settings of this login, for the advice
 * @param withFrontEnd whether to ask for the pages of the front end, too
 */
export async function examine(
  config: LoginConfig,
  naming: Naming,
  withFrontEnd = true,
): Promise<Examination> {
  return await withProbe(config, naming, async (probe, { client, proxyError, ofProxy }) => {
    const ownAddresses = Promise.all([
      checkBaseUrl(probe, config, madeUpVerifier, naming),
      withFrontEnd ? checkFrontEnd(probe, config, naming) : [],
    ]);
    const { finding: ofDiscovery, provider } =
      'known' in config.provider
        ? { finding: [], provider: config.provider.known }
        : await checkDiscovery(client, config, config.provider.discovered, proxyError, naming);
    const ofProvider =
      provider === undefined ? [] : await checkEndpoints(probe, config, naming, provider);
    const findings = [
      checkAddresses(config, provider, naming),
      ...(await ownAddresses),
      ofProxy,
      ofDiscovery,
      provider ? [...checkScope(provider, naming), ...checkTokens(config, provider, naming)] : [],
      ofProvider,
    ].flat();
    return { findings, provider };
  });
}

/** Asks for the pages of a front end. */
export async function examineFrontEnd(config: LoginConfig, naming: Naming): Promise<Finding[]> {
  return await withProbe(config, naming, (probe) => checkFrontEnd(probe, config, naming));
}

/** What the way to other servers is. */
interface Way {
  readonly client: UpstreamClient;
  readonly proxyError: string | undefined;
  readonly ofProxy: readonly Finding[];
}

async function withProbe<Result>(
  { providerTimeout: timeout, proxy }: LoginConfig,
  naming: Naming,
  examineWith: (probe: Probe, way: Way) => Promise<Result>,
): Promise<Result> {
  const limits = { timeout, concurrentCalls };
  const client = createUpstreamClient(userAgent, limits, proxy);
  try {
    const { findings: ofProxy, proxyError } = await checkProxy(proxy, timeout);
    return await examineWith(createProbe(client, proxyError, naming), {
      client,
      proxyError,
      ofProxy,
    });
  } finally {
    client.close();
  }
}

async function checkEndpoints(
  probe: Probe,
  config: LoginConfig,
  naming: Naming,
  provider: Provider,
): Promise<Finding[]> {
  const findings = await Promise.all([
    checkAuthorizationEndpoint(probe, config, provider, madeUpVerifier, naming),
    checkTokenEndpoint(probe, config, provider, madeUpVerifier, naming),
    checkUserEndpoint(probe, provider, naming),
  ]);
  return findings.flat();
}
