import * as v from 'valibot';
import type { LoginConfig } from '../config/login-config.ts';
import type { DiscoveredProvider } from '../config/provider-settings.ts';
import type { Naming } from '../config/reading.ts';
import * as schemas from '../config/schemas.ts';
import { encodingChanges } from '../oauth/client-authentication.ts';
import { DiscoveryError, type DiscoveryFailure } from '../oauth/discovery-error.ts';
import type { Provider } from '../providers/provider.ts';
import type { UpstreamClient } from '../upstream/client.ts';
import { discoverProvider } from '../upstream/discovery.ts';
import { type Finding, ok, problem } from './finding.ts';
import { explainCall } from './unreached.ts';

const subject = 'discovery';

/** What to change, if it is not just the issuer. */
function fixesFor(
  { endpoint }: DiscoveryError,
  { describe }: Naming,
): Partial<Record<DiscoveryFailure, string>> {
  const correctIssuer = `correct ${describe('issuer')}`;
  const endpoints = endpoint ? [endpoint] : (['authorizeUrl', 'tokenUrl', 'userUrl'] as const);
  const byHand = endpoints.map(describe).join(', ');
  return {
    unavailable: 'try again later: a relay that runs keeps trying',
    not_found: `${correctIssuer}; a provider without metadata needs ${byHand}`,
    endpoint_missing: `give it by hand: ${byHand}`,
    endpoint_unusable: `${correctIssuer}, or give the endpoint by hand: ${byHand}`,
    endpoint_on_this_machine: `${correctIssuer}, or give the endpoint by hand: ${byHand}`,
    endpoint_parameter: `give it by hand: ${byHand}`,
    issuer_scheme:
      'have the proxy in front of the provider send X-Forwarded-Proto, and the provider trust it',
    unsupported: `turn that off at the provider, or use another kind of provider; one that takes a client secret without saying so needs ${describe('tokenRequest')}`,
  };
}

/** The reasons that a call without an answer has. */
const outcomes = {
  unreachable: 'provider_unreachable',
  timeout: 'provider_timeout',
  too_large: 'provider_answer_unusable',
} as const satisfies Partial<Record<DiscoveryFailure, string>>;

/**
 * Reads the provider's metadata from its issuer, as a relay does when it starts.
 *
 * @param proxyError see {@link explainCall}
 */
export async function checkDiscovery(
  client: UpstreamClient,
  config: LoginConfig,
  discovered: DiscoveredProvider,
  proxyError: string | undefined,
  naming: Naming,
): Promise<{ readonly finding: Finding; readonly provider?: Provider }> {
  try {
    const context = { ...discovered, encodingChanges: encodingChanges(config) };
    const provider = await discoverProvider(client, context);
    return { finding: ok(subject, 'the issuer describes its endpoints'), provider };
  } catch (error) {
    if (!(error instanceof DiscoveryError)) throw error;
    return { finding: explain(error, new URL(discovered.issuer), proxyError, naming) };
  }
}

function explain(
  error: DiscoveryError,
  issuer: URL,
  proxyError: string | undefined,
  naming: Naming,
): Finding {
  const { reason, explanation, code, metadataIssuer } = error;
  if (reason === 'unreachable' || reason === 'timeout' || reason === 'too_large') {
    const call = { outcome: outcomes[reason], error: code };
    const { message, fix } = explainCall(issuer, call, proxyError, naming);
    return problem(subject, message, fix);
  }
  // Providers may send anything: only an issuer is shown.
  const isShown = v.is(schemas.issuer, metadataIssuer) && metadataIssuer.length <= 200;
  const issuerSetting = naming.describe('issuer');
  const fix = isShown
    ? `if that is your provider, set ${issuerSetting} to exactly ${metadataIssuer}`
    : (fixesFor(error, naming)[reason] ?? `correct ${issuerSetting}`);
  return problem(subject, explanation.replace(/: .*/, ''), fix);
}
