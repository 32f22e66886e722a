import type { ConfigReading, FrontEndConfig, RegistrationConfig } from '../config/config.ts';
import type { Provider } from '../providers/provider.ts';
import { frontEndsOf, registrationsOf } from '../relay/registration-config.ts';
import { checkAddresses, checkBaseUrl } from './addresses.ts';
import { checkAuthorizationEndpoint, checkScope } from './authorization-endpoint.ts';
import { type CheckContext, createContext } from './context.ts';
import { checkDiscovery } from './discovery.ts';
import type { Finding } from './finding.ts';
import { checkFrontEnd } from './front-end.ts';
import { checkTokenEndpoint } from './token-endpoint.ts';
import { checkTokens } from './tokens.ts';
import { checkUserEndpoint } from './user-endpoint.ts';

const atOnce = 20;

/**
 * Checks the relay's own addresses, and calls the provider with a made-up code and token.
 *
 * @param withFrontEnd whether to ask for the pages of the front end, too
 * @param registration by default, the first one
 * @param frontEnd by default, the first one
 * @returns the provider, too, by the name of its registration, unless its issuer did not describe it
 */
export async function examine(
  reading: ConfigReading,
  withFrontEnd = true,
  registration?: RegistrationConfig,
  frontEnd?: FrontEndConfig,
) {
  const context = createContext(reading, registration, frontEnd);
  try {
    return await examineWith(context, withFrontEnd);
  } finally {
    context.client.close();
  }
}

async function examineWith(context: CheckContext, withFrontEnd: boolean) {
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
    ofDiscovery,
    atProvider ? [...checkScope(atProvider), ...checkTokens(atProvider)] : [],
    ...ofEndpoints,
  ].flat();
  const { pathName } = context.config;
  return { findings, described: new Map(provider && [[pathName, provider]]) };
}

/**
 * Examines every registration and every front end of a configuration file, in its order. Each finding
 * names the one that it is about.
 */
export async function examineAll(reading: ConfigReading): ReturnType<typeof examine> {
  const { config } = reading;
  const described = new Map<string, Provider>();
  const ofRegistrations = mapInGroups(config.registrations, async (registration) => {
    const [frontEnd] = frontEndsOf(config, registration);
    const examined = await examine(reading, false, registration, frontEnd);
    for (const [name, provider] of examined.described) described.set(name, provider);
    return about(registration.name, examined.findings);
  });
  const ofFrontEnds = mapInGroups(config.frontEnds, async (frontEnd) => {
    const [registration] = registrationsOf(config, frontEnd);
    const context = createContext(reading, registration, frontEnd);
    const findings = await checkFrontEnd(context).finally(() => context.client.close());
    return about(frontEnd.name, findings);
  });
  // At once, because each may wait until the time for a call is over.
  const findings = (await Promise.all([ofRegistrations, ofFrontEnds])).flat(2);
  return { findings, described };
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
