import * as v from 'valibot';
import { describeOption } from '../config/options.ts';
import type { DiscoveredProvider } from '../config/provider-settings.ts';
import * as schemas from '../config/schemas.ts';
import { parseJsonObject } from '../oauth/json.ts';
import type { Provider } from '../providers/provider.ts';
import { DiscoveryError, discoverProvider } from '../upstream/discovery.ts';
import { type Finding, ok, problem } from './finding.ts';
import { explainCall } from './unreached.ts';
import type { WatchedClient } from './watched-client.ts';

const subject = 'discovery';
const correctIssuer = `correct ${describeOption('issuer')}`;
const endpointsByHand = (['authorizeUrl', 'tokenUrl', 'userUrl'] as const)
  .map(describeOption)
  .join(', ');

/** What to change, if it is not just the issuer. */
const fixes: Partial<Record<DiscoveryError['reason'], string>> = {
  unavailable: 'try again later: a relay that runs keeps trying',
  not_found: `${correctIssuer}; a provider without metadata needs ${endpointsByHand}`,
  endpoint_missing: `give it by hand: ${endpointsByHand}`,
  endpoint_unusable: `${correctIssuer}, or give the endpoint by hand: ${endpointsByHand}`,
  endpoint_on_this_machine: `${correctIssuer}, or give the endpoint by hand: ${endpointsByHand}`,
  endpoint_parameter: `give it by hand: ${endpointsByHand}`,
  client_authentication: 'register a confidential client at another kind of provider',
};

/**
 * Learns about the provider from its issuer, as a relay does when it starts.
 *
 * @param proxyError see {@link explainCall}
 */
export async function checkDiscovery(
  client: WatchedClient,
  discovered: DiscoveredProvider,
  proxyError: string | undefined,
): Promise<{ readonly finding: Finding; readonly provider?: Provider }> {
  try {
    const provider = await discoverProvider(client, discovered);
    return { finding: ok(subject, 'the issuer tells its endpoints'), provider };
  } catch (error) {
    if (!(error instanceof DiscoveryError)) throw error;
    return { finding: explain(error, client, discovered.issuer, proxyError) };
  }
}

function explain(
  { reason, explanation }: DiscoveryError,
  client: WatchedClient,
  issuer: string,
  proxyError: string | undefined,
): Finding {
  const call = client.lastCall();
  if (call !== undefined && call.outcome !== 'answered') {
    const { message, fix } = explainCall(new URL(issuer), call, proxyError);
    return problem(subject, message, fix);
  }
  const name = reason === 'issuer_mismatch' ? metadataIssuer(client) : undefined;
  const fix =
    name === undefined
      ? (fixes[reason] ?? correctIssuer)
      : `if that is your provider, set ${describeOption('issuer')} to exactly ${name}`;
  return problem(subject, explanation.replace(/:.*/, ''), fix);
}

/** The issuer that the metadata names, if it can be shown: providers may send anything. */
function metadataIssuer(client: WatchedClient): string | undefined {
  const answer = client.lastAnswer();
  const name = answer && parseJsonObject(answer.body)?.['issuer'];
  return v.is(schemas.issuer, name) && name.length <= 200 ? name : undefined;
}
