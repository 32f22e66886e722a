import type { Config, FrontEndConfig, RegistrationConfig } from '../config/config.ts';
import type { Naming } from '../config/readings.ts';
import type { RequiredEndpoint } from '../oauth/metadata.ts';
import type { Provider } from '../providers/provider.ts';
import { createUpstreamClient, type UpstreamClient } from '../upstream/client.ts';

/** What all checks of one login share. Advice names settings with `describe`. */
export interface CheckContext extends Naming {
  readonly config: Config;
  readonly registration: RegistrationConfig;
  readonly frontEnd: FrontEndConfig;
  readonly client: UpstreamClient;
}

export interface ProviderContext extends CheckContext {
  readonly provider: Provider;
}

// More than all checks make at once: each redirect URI is one.
const concurrentCalls = 10_000;

/** Creates the client that makes the calls of all checks. It has to be closed. */
export function createCheckClient({ providerTimeout: timeout, proxy }: Config): UpstreamClient {
  return createUpstreamClient({ timeout, concurrentCalls, proxy });
}

/** A code, token or secret that no provider has issued. */
export const madeUp = 'login-relay-check';

/** A PKCE verifier. RFC 7636 §4.1: at least 43 characters. */
export const madeUpVerifier = madeUp.padEnd(43, '-');

/** What to change if the address of an endpoint is wrong. It depends on the source of the address. */
export function fixUrl({ sourceOf, describe }: Naming, name: RequiredEndpoint): string {
  if (sourceOf(name) !== undefined) return `correct ${describe(name)}`;
  const origins = (['issuer', 'providerHost', 'providerTenant'] as const).filter(
    (option) => sourceOf(option) !== undefined,
  );
  const origin = (origins.length > 0 ? origins : (['provider'] as const)).map(describe);
  return `correct ${origin.join(' or ')}, or give ${describe(name)}`;
}
