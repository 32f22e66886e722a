import type { Config, RegistrationConfig } from '../config/config.ts';
import { encodingChanges } from '../oauth/client-authentication.ts';
import { DiscoveryError } from '../oauth/discovery-error.ts';
import type { Provider } from '../providers/provider.ts';
import { createUpstreamClient } from '../upstream/client.ts';
import { discoverProvider } from '../upstream/discovery.ts';
import { userAgent } from '../version.ts';

// Discovery makes one call at a time.
const concurrentCalls = 4;

/** The providers that their issuers describe now, by the name of the registration. The others are left out. */
export async function describedProviders(config: Config): Promise<ReadonlyMap<string, Provider>> {
  const described = await Promise.all(
    config.registrations.map(async (registration) => {
      const provider = await discover(config, registration);
      return provider === undefined ? [] : [[registration.name, provider] as const];
    }),
  );
  return new Map(described.flat());
}

async function discover(
  { providerTimeout: timeout, proxy }: Config,
  { provider, ...registration }: RegistrationConfig,
): Promise<Provider | undefined> {
  if ('known' in provider) return undefined;
  const client = createUpstreamClient(userAgent, { timeout, concurrentCalls }, proxy);
  const context = { ...provider.discovered, encodingChanges: encodingChanges(registration) };
  try {
    return await discoverProvider(client, context);
  } catch (error) {
    if (error instanceof DiscoveryError) return undefined;
    throw error;
  } finally {
    client.close();
  }
}
