import type { PersonSource } from '../access/allow.ts';
import type { IdentityQuestion } from '../access/identity.ts';
import type { RefreshPolicy } from '../grants/refresh-tokens.ts';
import { doorPaths, registrationPath } from '../paths.ts';
import type { Provider } from '../providers/provider.ts';
import { type Resource, toComparable } from '../resources/resource.ts';
import { isLoopback } from '../urls.ts';
import type { Config, FrontEndConfig, RegistrationConfig, ResourceConfig } from './config.ts';
import { configuredProvider } from './provider-settings.ts';

/**
 * Identifies a registration in a text to which its states, codes, refresh tokens and sessions are bound. The configured
 * name is not enough: the operator may later give it to another client or provider, which must not get the tokens of
 * the earlier one, and the client secret with them. The client identifier is not enough either, because it is unique at
 * one issuer only. Without an issuer, the path of the token endpoint distinguishes tenants.
 */
export function identifyRegistration(
  { name, clientId, provider: settings }: RegistrationConfig,
  { tokenUrl, refreshUrl }: Provider,
): string {
  const issuer = configuredIssuer(settings);
  const endpoint = issuer === undefined ? tokenUrl : new URL(tokenUrl).origin;
  const parts = [name, endpoint, issuer ?? '-', clientId];
  if (refreshUrl !== undefined) parts.push(refreshUrl);
  return parts.join(' ');
}

/** The issuer that the configuration names, whether or not its metadata are asked for. */
const configuredIssuer = (settings: RegistrationConfig['provider']) =>
  'discovered' in settings ? settings.discovered.issuer : settings.issuer;

/**
 * Identifies the user accounts that log in at a registration. Two registrations at one provider get the same text, as
 * far as the configuration shows that it is one provider.
 */
export function identifyUserBase({ provider }: RegistrationConfig): string {
  if ('discovered' in provider) return provider.discovered.issuer;
  return provider.known.issuer ?? provider.known.userUrl ?? provider.known.tokenUrl;
}

/**
 * The settings that say where the provider of a registration describes a person. Metadata cannot change them, so doors
 * hash the same ones before and after discovery.
 */
export function personSourceOf({ provider }: RegistrationConfig): PersonSource {
  return configuredProvider(provider);
}

/** The front ends of the configuration that may use a registration. */
export const frontEndsOfRegistration = ({ frontEnds }: Config, { name }: RegistrationConfig) =>
  frontEnds.filter(({ registrations }) => registrations.includes(name));

/**
 * The front end with which the relay itself logs browsers in at a resource. Its name contains a space, which no
 * configured name can have, so that no request can name it.
 */
export function frontEndOfDoor({
  name,
  url,
  registrations,
}: Pick<ResourceConfig, 'name' | 'url' | 'registrations'>): FrontEndConfig {
  return {
    name: `door ${name}`,
    kind: 'page',
    origin: undefined,
    origins: [],
    frontendUrl: undefined,
    redirectUris: [new URL(url).origin + doorPaths.callback],
    tokenDelivery: 'code',
    errorDelivery: 'page',
    registrations,
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

/** The name of a front end in reports. The front end with which the relay logs browsers in has no name in the file. */
export const reportedName = ({ frontEnds }: Config, { name }: FrontEndConfig): string =>
  frontEnds.some((frontEnd) => frontEnd.name === name) ? name : 'browsers';

/** The front ends of a registration, then the front ends with which the relay logs browsers in at its resources. */
export const frontEndsWithBrowsers = (config: Config, registration: RegistrationConfig): readonly FrontEndConfig[] => [
  ...frontEndsOfRegistration(config, registration),
  ...config.resources
    .filter((resource) => resource.browser !== undefined && resource.registrations.includes(registration.name))
    .map(frontEndOfDoor),
];

/** The resources for people of a registration, each with the audience of its access tokens. */
export function resourcesOfRegistration(
  { resources }: Config,
  { name, clientId, provider }: RegistrationConfig,
): readonly Resource[] {
  // `identifyRegistration` needs the provider's metadata, and resources must work before they are discovered.
  const providerId = configuredIssuer(provider) ?? ('known' in provider ? provider.known.tokenUrl : '');
  return resources
    .filter((resource) => resource.registrations.includes(name))
    .map((resource) => {
      const audience = [name, providerId, clientId, toComparable(resource.url) ?? resource.url];
      // `idsNameProvider` changes the ids of people, so tokens with the other form of ids must become invalid.
      return {
        ...resourceAt(resource, name),
        audience: resource.idsNameProvider ? [...audience, 'ids with provider'] : audience,
      };
    });
}

/** A resource for the people of one registration. */
export interface ResourceAtRegistration extends ResourceConfig {
  readonly registration: string;
  readonly identity: IdentityQuestion;
}

const learnsNothing: IdentityQuestion = { claims: [] };

const resourceAt = (resource: ResourceConfig, registration: string): ResourceAtRegistration => ({
  ...resource,
  registration,
  identity: resource.identities.get(registration) ?? learnsNothing,
});

/** The resources that people of a registration may use with a front end. */
export function resourcesOfFrontEnd(
  { resources }: Config,
  frontEnd: FrontEndConfig,
  { name }: RegistrationConfig,
): readonly ResourceAtRegistration[] {
  return resources
    .filter((resource) => resource.registrations.includes(name) && frontEnd.resources.includes(resource.name))
    .map((resource) => resourceAt(resource, name));
}

/**
 * The issuers in the metadata of a resource, in the order of its registrations. Clients take the first issuer, so the
 * list has only registrations at which a program can log in for the resource; or all of them if no program can.
 */
export function issuersOf({ baseUrl, frontEnds }: Config, { name, registrations }: ResourceConfig): readonly string[] {
  const programs = frontEnds.filter(({ kind, resources }) => kind !== 'machine' && resources.includes(name));
  const usable = registrations.filter((registration) =>
    programs.some((program) => program.registrations.includes(registration)),
  );
  const listed = usable.length > 0 ? usable : registrations;
  return listed.map((registration) => baseUrl + registrationPath(registration));
}

/** The registrations that a front end may use. */
export const registrationsOfFrontEnd = ({ registrations }: Config, frontEnd: FrontEndConfig) =>
  registrations.filter(({ name }) => frontEnd.registrations.includes(name));

/**
 * The rules for the refresh tokens of a front end; undefined if it gets none. Unless the base URL is on this machine,
 * refresh tokens need a key file. Without one, their key would come from the client secret, which the provider knows.
 */
export function refreshPolicyOf(
  { refreshLifetime: lifetime, keySecrets, baseUrl }: Config,
  { refreshTokens: mode, kind }: FrontEndConfig,
): RefreshPolicy | undefined {
  const isKeySafe = keySecrets !== undefined || isLoopback(new URL(baseUrl));
  return mode !== 'off' && isKeySafe ? { mode, lifetime, rotates: kind === 'native' } : undefined;
}

/** Whether the logins of a front end are sessions, whose tokens only a cookie of the relay holds. */
export const hasSessions = ({ tokenDelivery }: FrontEndConfig) => tokenDelivery === 'session';
