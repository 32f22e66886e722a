import type { PersonSource } from '../access/allow.ts';
import type { RefreshPolicy } from '../grants/refresh-tokens.ts';
import { doorPaths } from '../paths.ts';
import type { Provider } from '../providers/provider.ts';
import { comparable, type Resource } from '../resources/resource.ts';
import { isLoopback } from '../urls.ts';
import type { Config, FrontEndConfig, RegistrationConfig } from './config.ts';

/**
 * Names a registration. States, codes, refresh tokens and sessions are bound to this text. The configured name is not
 * enough: if the operator gives it to another client, or to a provider at another host, that must not get the tokens of
 * the earlier one, and the client secret with them. Client identifiers are unique only at one issuer. Without an
 * issuer, tenants of a host differ in their path.
 */
export function audienceOfRegistration(
  { name, clientId, provider: settings }: RegistrationConfig,
  { tokenUrl, refreshUrl }: Provider,
): string {
  const issuer = issuerOf(settings);
  const endpoint = issuer === undefined ? tokenUrl : new URL(tokenUrl).origin;
  return [name, endpoint, issuer ?? '-', clientId, ...(refreshUrl === undefined ? [] : [refreshUrl])].join(' ');
}

/** The issuer that tells the registrations at one host apart. */
const issuerOf = (settings: RegistrationConfig['provider']) =>
  'discovered' in settings ? settings.discovered.issuer : settings.issuer;

/**
 * Names the provider whose people a registration knows, alike for two registrations of it as far as that can be known.
 */
export function peopleOf({ provider }: RegistrationConfig): string {
  if ('discovered' in provider) return provider.discovered.issuer;
  return provider.known.issuer ?? provider.known.userUrl ?? provider.known.tokenUrl;
}

/** Where the provider of a registration says who a person is. Metadata cannot change it. */
export function personSourceOf({ provider }: RegistrationConfig): PersonSource {
  return 'discovered' in provider ? provider.discovered.given : provider.known;
}

export const frontEndsOf = ({ frontEnds }: Config, { name }: RegistrationConfig) =>
  frontEnds.filter(({ registrations }) => registrations.includes(name));

/**
 * The relay itself, as the front end whose logins are those of browsers at a resource. No front end can have its name, so
 * that no request names it.
 */
export function frontEndOfBrowsers({
  name,
  url,
  registration,
}: Pick<Config['resources'][number], 'name' | 'url' | 'registration'>): FrontEndConfig {
  return {
    name: `door ${name}`,
    kind: 'page',
    origin: undefined,
    origins: [],
    frontendUrl: undefined,
    redirectUris: [new URL(url).origin + doorPaths.callback],
    tokenDelivery: 'code',
    errorDelivery: 'page',
    registrations: [registration],
    scope: undefined,
    resources: [name],
    // The cookie is renewed by another login.
    refreshTokens: 'off',
    allow: undefined,
    clients: undefined,
    clientKeys: undefined,
    credentials: undefined,
    apis: [],
  };
}

/** All that logs people in at a registration: its front ends, then the browsers of its resources. */
export const loginsAt = (config: Config, registration: RegistrationConfig): readonly FrontEndConfig[] => [
  ...frontEndsOf(config, registration),
  ...config.resources
    .filter((one) => one.browser !== undefined && one.registration === registration.name)
    .map(frontEndOfBrowsers),
];

/** The resources for people of a registration, each with the audience of its access tokens. */
export function resourcesOf(
  { resources }: Config,
  { name, clientId, provider }: RegistrationConfig,
): readonly Resource[] {
  // Not `audienceOfRegistration`, which needs the provider's own description: doors must not wait for discovery.
  const at = 'discovered' in provider ? provider.discovered.issuer : (provider.issuer ?? provider.known.tokenUrl);
  return resources
    .filter((one) => one.registration === name)
    .map((one) => ({
      ...one,
      audience: [name, at, clientId, comparable(one.url) ?? one.url],
    }));
}

export function resourcesAt(
  { resources }: Config,
  frontEnd: FrontEndConfig,
  { name }: RegistrationConfig,
): Config['resources'] {
  return resources.filter((one) => one.registration === name && frontEnd.resources.includes(one.name));
}

export const registrationsOf = ({ registrations }: Config, frontEnd: FrontEndConfig) =>
  registrations.filter(({ name }) => frontEnd.registrations.includes(name));

/**
 * The refresh tokens of a front end; undefined if it gets none. Beyond this machine they need a key file. Otherwise,
 * keys come from the client secret, which the provider knows, and it could open them.
 */
export function refreshPolicyOf(
  { refreshLifetime: lifetime, keySecrets, baseUrl }: Config,
  { refreshTokens: mode, kind }: FrontEndConfig,
): RefreshPolicy | undefined {
  const isKeySafe = keySecrets !== undefined || isLoopback(new URL(baseUrl));
  return mode !== 'off' && isKeySafe ? { mode, lifetime, rotates: kind === 'native' } : undefined;
}

export const hasSessions = ({ tokenDelivery }: FrontEndConfig) => tokenDelivery === 'session';
