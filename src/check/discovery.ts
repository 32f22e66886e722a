import * as v from 'valibot';
import type { Config } from '../config/config.ts';
import type { DiscoveredProvider } from '../config/provider.ts';
import { options } from '../config/settings/settings.ts';
import { encodingChanges } from '../oauth/client-authentication.ts';
import { DiscoveryError, type DiscoveryFailure } from '../oauth/metadata.ts';
import type { Provider } from '../providers/provider.ts';
import { createUpstreamClient, type UpstreamClient } from '../upstream/client.ts';
import { discoverProvider } from '../upstream/discovery.ts';
import { userAgent } from '../version.ts';
import type { CheckContext } from './context.ts';
import { type Finding, findingsOn } from './finding.ts';
import { explainCall } from './unreached.ts';

const discovery = findingsOn('discovery');

/** Reads the provider's metadata from its issuer, if it has one, as a relay does when it starts. */
export async function checkDiscovery(
  context: CheckContext,
): Promise<{ readonly findings: readonly Finding[]; readonly provider?: Provider }> {
  const { config, client } = context;
  if ('known' in config.provider) return { findings: [], provider: config.provider.known };
  const { discovered } = config.provider;
  const provider = await discover(client, discovered, config);
  return provider instanceof DiscoveryError
    ? { findings: [explain(context, provider, new URL(discovered.issuer))] }
    : { findings: [discovery.ok('the issuer describes its endpoints')], provider };
}

/** The providers that their issuers describe now, by the name of the registration. The others are left out. */
export async function describedProviders(config: Config): Promise<ReadonlyMap<string, Provider>> {
  const { providerTimeout: timeout, proxy, registrations } = config;
  const described = registrations.map(async ({ name, provider: settings, ...credentials }) => {
    if ('known' in settings) return [];
    // Discovery makes one call at a time.
    const client = createUpstreamClient(userAgent, { timeout, concurrentCalls: 4 }, proxy);
    try {
      const provider = await discover(client, settings.discovered, credentials);
      return provider instanceof DiscoveryError ? [] : [[name, provider] as const];
    } finally {
      client.close();
    }
  });
  return new Map((await Promise.all(described)).flat());
}

async function discover(
  client: UpstreamClient,
  discovered: DiscoveredProvider,
  credentials: Parameters<typeof encodingChanges>[0],
): Promise<Provider | DiscoveryError> {
  try {
    const context = { ...discovered, encodingChanges: encodingChanges(credentials) };
    return await discoverProvider(client, context);
  } catch (error) {
    if (error instanceof DiscoveryError) return error;
    throw error;
  }
}

/** The reasons that a call without an answer has. */
const outcomes = {
  unreachable: 'provider_unreachable',
  timeout: 'provider_timeout',
  too_large: 'provider_answer_unusable',
} as const satisfies Partial<Record<DiscoveryFailure, string>>;

function explain(context: CheckContext, error: DiscoveryError, issuer: URL): Finding {
  const { reason, explanation, code, metadataIssuer } = error;
  if (reason === 'unreachable' || reason === 'timeout' || reason === 'too_large') {
    const call = { outcome: outcomes[reason], error: code };
    const { message, fix } = explainCall(issuer, call, context);
    return discovery.problem(message, fix);
  }
  const correct = context.describe('issuer');
  // Providers may send anything: only an issuer is shown.
  const isShown = v.is(options.issuer.schema, metadataIssuer) && metadataIssuer.length <= 200;
  const [message = '', remedy = 'try again later: a relay that runs keeps trying'] =
    explanation.split(/: (.*)/);
  const fix = isShown
    ? `if that is your provider, set ${correct} to exactly ${metadataIssuer}`
    : remedy.replace('the issuer', correct);
  return discovery.problem(message, fix);
}
