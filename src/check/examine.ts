import type { ConfigReading, FrontEndConfig, RegistrationConfig } from '../config/config.ts';
import { frontEndsOf, registrationsOf } from '../relay/registration-config.ts';
import { createUpstreamClient } from '../upstream/client.ts';
import { userAgent } from '../version.ts';
import { checkAddresses, checkBaseUrl } from './addresses.ts';
import { checkAuthorizationEndpoint, checkScope } from './authorization-endpoint.ts';
import { type CheckContext, loginConfig } from './context.ts';
import { checkDiscovery } from './discovery.ts';
import type { Finding } from './finding.ts';
import { checkFrontEnd } from './front-end.ts';
import { checkProxy } from './proxy.ts';
import { checkTokenEndpoint } from './token-endpoint.ts';
import { checkTokens } from './tokens.ts';
import { checkUserEndpoint } from './user-endpoint.ts';

// More than all checks make at once. Each redirect URI is one.
const concurrentCalls = 64;

const atOnce = 20;

/**
 * Checks the relay's own addresses, and calls the provider with a made-up code and token.
 *
 * @param withFrontEnd whether to ask for the pages of the front end, too
 * @param registration by default, the first one
 * @param frontEnd by default, the first one
 * @returns the provider, too, unless its issuer did not describe it
 */
export async function examine(
  reading: ConfigReading,
  withFrontEnd = true,
  registration?: RegistrationConfig,
  frontEnd?: FrontEndConfig,
) {
  const run = async (context: CheckContext, ofProxy: readonly Finding[]) => {
    const ownAddresses = Promise.all([
      checkBaseUrl(context),
      withFrontEnd ? checkFrontEnd(context) : [],
    ]);
    const { findings: ofDiscovery, provider } = await checkDiscovery(context);
    const atProvider = provider && { ...context, provider };
    const ofEndpoints = atProvider
      ? await Promise.all([
          checkAuthorizationEndpoint(atProvider),
          checkTokenEndpoint(atProvider),
          checkUserEndpoint(atProvider),
        ])
      : [];
    const findings = [
      checkAddresses(context, provider),
      ...(await ownAddresses),
      ofProxy,
      ofDiscovery,
      atProvider ? [...checkScope(atProvider), ...checkTokens(atProvider)] : [],
      ...ofEndpoints,
    ].flat();
    return { findings, provider };
  };
  return await inContext(reading, run, registration, frontEnd);
}

/**
 * Examines every registration and every front end of a configuration file, in its order. Each finding
 * names the one that it is about.
 */
export async function examineAll(reading: ConfigReading): Promise<Finding[]> {
  const { config } = reading;
  const ofRegistrations = mapInGroups(config.registrations, async (registration) => {
    const [frontEnd] = frontEndsOf(config, registration);
    const { findings } = await examine(reading, false, registration, frontEnd);
    return about(registration.name, findings);
  });
  const ofFrontEnds = mapInGroups(config.frontEnds, async (frontEnd) => {
    const [registration] = registrationsOf(config, frontEnd);
    return about(frontEnd.name, await inContext(reading, checkFrontEnd, registration, frontEnd));
  });
  // At once, because each may wait until the time for a call is over.
  return (await Promise.all([ofRegistrations, ofFrontEnds])).flat(2);
}

async function inContext<Result>(
  reading: ConfigReading,
  run: (context: CheckContext, ofProxy: readonly Finding[]) => Promise<Result>,
  registration: RegistrationConfig = reading.config.registrations[0],
  frontEnd: FrontEndConfig = reading.config.frontEnds[0],
): Promise<Result> {
  const config = loginConfig(reading.config, registration, frontEnd);
  const { providerTimeout: timeout, proxy } = config;
  const client = createUpstreamClient(userAgent, { timeout, concurrentCalls }, proxy);
  try {
    const { findings, proxyError } = await checkProxy(proxy, timeout);
    const naming = reading.namingOf(registration.name, frontEnd.name);
    return await run({ ...naming, config, client, proxyError }, findings);
  } finally {
    client.close();
  }
}

/** The results in order. A thousand addresses that do not answer must not take hours. */
async function mapInGroups<Item, Result>(
  items: readonly Item[],
  task: (item: Item) => Promise<Result>,
): Promise<Result[]> {
  const results: Result[] = [];
  for (let start = 0; start < items.length; start += atOnce) {
    const group = items.slice(start, start + atOnce);
    results.push(...(await Promise.all(group.map(task))));
  }
  return results;
}

function about(name: string, findings: readonly Finding[]): Finding[] {
  return findings.map((finding) => ({ ...finding, subject: `${finding.subject} (${name})` }));
}
