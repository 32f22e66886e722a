import type {
  Config,
  ConfigReading,
  FrontEndConfig,
  RegistrationConfig,
} from '../config/config.ts';
import type { Naming } from '../config/reading.ts';
import { RelayError } from '../errors.ts';
import type { RequiredEndpoint } from '../oauth/metadata.ts';
import type { Provider } from '../providers/provider.ts';
import { createUpstreamClient } from '../upstream/client.ts';
import type { UpstreamCall, UpstreamRequest, UpstreamResponse } from '../upstream/messages.ts';
import { userAgent } from '../version.ts';
import { explainCall, type Unreached } from './unreached.ts';

/** What the logins of one front end at one registration are configured with. */
export type LoginConfig = ReturnType<typeof loginConfig>;

/** Views a configuration as that of one registration and one front end: by default, the first ones. */
export function loginConfig(
  config: Config,
  registration: RegistrationConfig = config.registrations[0],
  frontEnd: FrontEndConfig = config.frontEnds[0],
) {
  const { registrations: _, frontEnds: __, ...relay } = config;
  const { name: pathName, ...ofRegistration } = registration;
  const { name, registrations: ___, ...ofFrontEnd } = frontEnd;
  return Object.freeze({ ...relay, ...ofRegistration, ...ofFrontEnd, pathName, frontEnd: name });
}

// More than all checks make at once. Each redirect URI is one.
const concurrentCalls = 64;

/** What all checks of one login share. Advice names settings with `describe`. */
export type CheckContext = ReturnType<typeof createContext>;

/** Makes the context of the logins of one front end at one registration: by default, the first ones. Its client has to be closed. */
export function createContext(
  reading: ConfigReading,
  registration: RegistrationConfig = reading.config.registrations[0],
  frontEnd: FrontEndConfig = reading.config.frontEnds[0],
) {
  const config = loginConfig(reading.config, registration, frontEnd);
  const { providerTimeout: timeout, proxy } = config;
  const client = createUpstreamClient(userAgent, { timeout, concurrentCalls }, proxy);
  return {
    ...reading.namingOf(registration.name, frontEnd.name),
    config,
    client,
  };
}

/** The same, once the provider is known. */
export interface ProviderContext extends CheckContext {
  readonly provider: Provider;
}

/** A code, token or secret that no provider has issued. */
export const madeUp = 'login-relay-check';

/** A PKCE verifier. RFC 7636 §4.1: at least 43 characters. */
export const madeUpVerifier = madeUp.padEnd(43, '-');

/** Makes one call: its answer, or why there is none. */
export async function ask(
  context: CheckContext,
  request: UpstreamRequest,
): Promise<
  | { readonly answer: UpstreamResponse; readonly unreached?: undefined }
  | { readonly answer?: undefined; readonly unreached: Unreached }
> {
  let seen: UpstreamCall | undefined;
  try {
    const answer = await context.client.call(request, (call) => {
      seen = call;
    });
    return { answer };
  } catch (error) {
    if (!(error instanceof RelayError) || seen === undefined) throw error;
    return { unreached: explainCall(new URL(request.url), seen, context) };
  }
}

/** What to change if the address of an endpoint is wrong. It depends on the source of the address. */
export function fixUrl({ sourceOf, describe }: Naming, name: RequiredEndpoint): string {
  if (sourceOf(name) !== undefined) return `correct ${describe(name)}`;
  const origins = (['issuer', 'providerHost', 'providerTenant'] as const).filter(
    (option) => sourceOf(option) !== undefined,
  );
  const origin = (origins.length > 0 ? origins : (['provider'] as const)).map(describe);
  return `correct ${origin.join(' or ')}, or give ${describe(name)}`;
}
