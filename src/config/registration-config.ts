import type { PersonSource } from '../access/allow.ts';
import type { RefreshPolicy } from '../grants/refresh-tokens.ts';
import type { Provider } from '../providers/provider.ts';
import { comparable, type Resource } from '../resources/resource.ts';
import { isLoopback } from '../urls.ts';
import type { Config, FrontEndConfig, RegistrationConfig } from './config.ts';

/**
 * What states, codes, refresh tokens and sessions of a registration are bound to. Its name alone would not do: an
 * operator may give it to another client, or to a provider at another host, which must not get the tokens of the earlier
 * one, and the secret with them. Client identifiers are unique only at one issuer. Without one, tenants of a host differ
 * in their path.
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

/** The provider whose people a registration knows: the same text for two registrations, if that can be known. */
export function peopleOf({ provider }: RegistrationConfig): string {
  if ('discovered' in provider) return provider.discovered.issuer;
  return provider.known.issuer ?? provider.known.userUrl ?? provider.known.tokenUrl;
}

/** Where the provider of a registration says who a person is. Metadata do not change it. */
export function personSourceOf({ provider }: RegistrationConfig): PersonSource {
  return 'discovered' in provider ? provider.discovered.given : provider.known;
}

/** The front ends that a registration serves. */
export const frontEndsOf = ({ frontEnds }: Config, { name }: RegistrationConfig) =>
  frontEnds.filter(({ registrations }) => registrations.includes(name));

/** The resources whose people a registration knows, each with the audience that its access tokens are sealed to. */
export function resourcesOf(
  { resources }: Config,
  { name, clientId, provider }: RegistrationConfig,
): readonly Resource[] {
  // Not `audienceOfRegistration`: it needs the provider's own description, and doors must not wait for that.
  const at = 'discovered' in provider ? provider.discovered.issuer : (provider.issuer ?? provider.known.tokenUrl);
  return resources
    .filter((one) => one.registration === name)
    .map((one) => ({
      ...one,
      audience: [name, at, clientId, comparable(one.url) ?? one.url],
    }));
}

/** The resources that people of a registration log in for at a front end. */
export function resourcesAt(
  { resources }: Config,
  frontEnd: FrontEndConfig,
  { name }: RegistrationConfig,
): Config['resources'] {
  return resources.filter((one) => one.registration === name && frontEnd.resources.includes(one.name));
}

/** The registrations that a front end may use. */
export const registrationsOf = ({ registrations }: Config, frontEnd: FrontEndConfig) =>
  registrations.filter(({ name }) => frontEnd.registrations.includes(name));

/**
 * The refresh tokens of a front end; undefined: none. Beyond this machine they need a key file: otherwise, the client
 * secret, which the provider knows, would open them.
 */
export function refreshPolicyOf(
  { refreshLifetime: lifetime, keySecrets, baseUrl }: Config,
  { refreshTokens: mode, kind }: FrontEndConfig,
): RefreshPolicy | undefined {
  const isKeySafe = keySecrets !== undefined || isLoopback(new URL(baseUrl));
  return mode !== 'off' && isKeySafe ? { mode, lifetime, rotates: kind === 'native' } : undefined;
}

/** Whether a front end holds no token: a cookie of the relay does. */
export const hasSessions = ({ tokenDelivery }: FrontEndConfig) => tokenDelivery === 'session';
