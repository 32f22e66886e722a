import type { ConfigReading } from '../config/config.ts';
import type { Provider } from '../providers/provider.ts';
import { frontEndsOf, registrationsOf } from '../relay/registration-config.ts';
import { checkAddresses, checkBaseUrl } from './addresses.ts';
import { checkAuthorizationEndpoint, checkScope } from './authorization-endpoint.ts';
import { type CheckContext, createCheckClient, type ProviderContext } from './context.ts';
import { checkDiscovery } from './discovery.ts';
import type { Finding } from './finding.ts';
import { checkFrontEnd } from './front-end.ts';
import { checkTokenEndpoint } from './token-endpoint.ts';
import { checkTokens } from './tokens.ts';
import { checkUserEndpoint } from './user-endpoint.ts';

const atOnce = 20;

/**
 * Checks the relay's own addresses and the pages of its front ends, and calls each provider with a made-up code and
 * token.
 *
 * @param isFromFile whether a file has the registrations and the front ends. Then each finding names the one that it
 *   is about
 * @returns the providers, too, by the name of the registration, except those that their issuers do not describe
 */
export async function examine({ config, namingOf }: ConfigReading, isFromFile: boolean) {
  const client = createCheckClient(config);
  const described = new Map<string, Provider>();

  function contextOf(
    registration = config.registrations[0],
    frontEnd = config.frontEnds[0],
  ): CheckContext {
    const naming = namingOf(registration.name, frontEnd.name);
    return { ...naming, config, registration, frontEnd, client };
  }

  async function examineLogin(context: CheckContext, withPages: boolean): Promise<Finding[]> {
    const ownAddresses = Promise.all([
      checkBaseUrl(context),
      withPages ? checkFrontEnd(context) : [],
    ]);
    const { findings: ofDiscovery, provider } = await checkDiscovery(context);
    if (provider) described.set(context.registration.name, provider);
    const ofProvider = provider ? await checkProvider({ ...context, provider }) : [];
    const ofAddresses = [checkAddresses(context, provider), ...(await ownAddresses)].flat();
    return [...ofAddresses, ...ofDiscovery, ...ofProvider];
  }

  async function examineAll(): Promise<Finding[]> {
    const ofRegistrations = mapInGroups(config.registrations, async (registration) => {
      const [frontEnd] = frontEndsOf(config, registration);
      return about(registration, await examineLogin(contextOf(registration, frontEnd), false));
    });
    const ofFrontEnds = mapInGroups(config.frontEnds, async (frontEnd) => {
      const [registration] = registrationsOf(config, frontEnd);
      return about(frontEnd, await checkFrontEnd(contextOf(registration, frontEnd)));
    });
    // At once, because each may wait until the time for a call is over.
    return (await Promise.all([ofRegistrations, ofFrontEnds])).flat(2);
  }

  const examined = isFromFile ? examineAll() : examineLogin(contextOf(), true);
  return { findings: await examined.finally(client.close), described };
}

async function checkProvider(context: ProviderContext): Promise<Finding[]> {
  const ofEndpoints = await Promise.all([
    checkAuthorizationEndpoint(context),
    checkTokenEndpoint(context),
    checkUserEndpoint(context),
  ]);
  return [...checkScope(context), ...checkTokens(context), ...ofEndpoints.flat()];
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

function about({ name }: { readonly name: string }, findings: readonly Finding[]): Finding[] {
  return findings.map((finding) => ({ ...finding, subject: `${finding.subject} (${name})` }));
}
