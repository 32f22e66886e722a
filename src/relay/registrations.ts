import type { Logger } from 'pino';
import { allowsOf, hashRules } from '../access/allow.ts';
import type { BrowserDoor } from '../browsers/browser-door.ts';
import { limitLifetime } from '../browsers/door-cookies.ts';
import { createDoorTickets } from '../browsers/door-logins.ts';
import { createClients } from '../clients/clients.ts';
import type { Documents } from '../clients/fetch-documents.ts';
import type { Clock } from '../clock.ts';
import type { Config, FrontEndConfig, RegistrationConfig } from '../config/config.ts';
import { mapNonEmpty } from '../config/readings.ts';
import {
  frontEndForBrowsers,
  frontEndsOfRegistration,
  identifyRegistration,
  identifyUserBase,
  personSourceOf,
  refreshPolicyOf,
  resourcesOfRegistration,
} from '../config/registration-config.ts';
import type { Pages } from '../delivery/pages.ts';
import { audienceOfFrontEnd, createFrontEnd, type FrontEndContext } from '../front-ends/front-end.ts';
import { createFrontEnds } from '../front-ends/front-ends.ts';
import { audienceOfMachine, credentialIds } from '../front-ends/machine.ts';
import { createGrants, type Grants } from '../grants/grants.ts';
import { type Context, truncatedQuery } from '../http/context.ts';
import { limits } from '../limits.ts';
import { createAddressLimits } from '../login/address-limits.ts';
import { createRegistration } from '../login/registration.ts';
import { createStates } from '../login/state.ts';
import { createLoginProtection, createPeekLogin } from '../login/state-check.ts';
import { hashKey } from '../memory/expiring-map.ts';
import { changesWhenEncoded } from '../oauth/client-authentication.ts';
import { defaultCallbackPath, registrationPath } from '../paths.ts';
import type { Provider } from '../providers/provider.ts';
import { type AccessTokenContent, browserCookie, createAccessTokens } from '../resources/access-tokens.ts';
import { createDoor, type Door } from '../resources/door.ts';
import type { Resource } from '../resources/resource.ts';
import { deriveKeys, type Keys } from '../sealing/keys.ts';
import type { Sessions } from '../session/sessions.ts';
import { createUpstreamClient, type UpstreamClient } from '../upstream/client.ts';
import { discoverProvider } from '../upstream/discovery.ts';
import { cacheByProvider, fixedProvider, type ProviderSource, startDiscovery } from '../upstream/provider-source.ts';
import type { Memory } from './memory.ts';

export type ServedRegistration = Awaited<ReturnType<typeof serveRegistration>>;

export const wordsOfPaths = ({ word, others }: ServedRegistration): readonly string[] => [
  word,
  ...others.map((one) => one.word),
];

export type ServedPath = ReturnType<typeof servePath>;

export interface ServingContext {
  readonly config: Config;
  readonly logger: Pick<Logger, 'info' | 'warn'>;
  readonly now: Clock;
  readonly memory: Memory;
  readonly sessions: Sessions | undefined;
  readonly documents: Documents;
  readonly pages: Pages;
}

/**
 * Creates a configured registration with connections of its own, so that a slow provider does not slow down the logins
 * at others.
 */
export async function serveRegistration(
  registered: RegistrationConfig,
  context: ServingContext,
  upstream = createProviderClient(context.config),
) {
  const { config } = context;
  const [keys, source] = await Promise.all([
    deriveKeys(config.keySecrets, registered.clientSecret),
    createProviderSource(registered, upstream, context),
  ]);
  const shared = { ...context, registered, upstream, keys, source };
  const [first, ...others] = mapNonEmpty(registered.paths, (path) => servePath(path, shared));
  return {
    ...first,
    others,
    source,
    callsInFlight: upstream.inFlight,
    close(): void {
      source.close();
      upstream.close();
    },
  };
}

export function createProviderClient({ providerTimeout: timeout, proxy }: Config): UpstreamClient {
  return createUpstreamClient({ timeout, concurrentCalls: limits.providerCalls, proxy });
}

interface PathContext extends ServingContext {
  readonly registered: RegistrationConfig;
  readonly upstream: UpstreamClient;
  readonly keys: Keys;
  readonly source: ProviderSource;
}

/**
 * The binding of states and codes: the callback URL, which the provider compares, and the word of the path if all paths
 * share a configured callback URL, because front ends compare the issuer.
 */
function createBinding({ word, callbackPath, callbackUri }: RegistrationConfig['paths'][number]): string {
  return callbackPath === defaultCallbackPath(word) ? callbackUri : `${callbackUri} ${word}`;
}

/**
 * Serves a registration at one of its paths. A login stays at its path, because the provider compares the redirect URI,
 * and front ends compare the issuer.
 */
function servePath(path: RegistrationConfig['paths'][number], context: PathContext) {
  const { word, callbackPath, callbackUri } = path;
  const place = createBinding(path);
  const { config, logger, now, memory, sessions, documents, pages } = context;
  const { registered, upstream, keys, source } = context;
  const audienceAt = (provider: Provider) => identifyRegistration(registered, provider);
  const audience = cacheByProvider(source, audienceAt);
  const states = createStates(keys.state, audience, place);
  const peekLogin = createPeekLogin(states, callbackUri);
  const grants = createGrants(keys, audience, place, memory.grants, now);
  const { baseUrl } = config;
  const { name, provider, stateCheck } = registered;
  const issuer = baseUrl + registrationPath(word);
  const protectionBy = (check: Exclude<typeof stateCheck, 'off'>, by: typeof states) =>
    createLoginProtection({ baseUrl, callbackUri, stateCheck: check }, by, now);
  const protection = stateCheck === 'off' ? undefined : protectionBy(stateCheck, states);
  const consentStates = createStates(keys.consent, audience, place, 'consent');
  const questions = protectionBy('always', consentStates);
  const frontEndConfigs = frontEndsOfRegistration(config, registered);
  const addressLimits = createAddressLimits(config, memory.logins);
  const ofClients = { issuer, keys: keys.client, documents, now };
  const clients = createClients(frontEndConfigs, { ...addressLimits, ...ofClients });
  const ofFrontEnds: FrontEndContext = {
    registration: name,
    issuer,
    audience,
    peekLogin,
    codes: grants.codes,
    sessions,
    cmsBackend: 'known' in provider ? provider.known.cms?.name : undefined,
    isOnlyOne: frontEndConfigs.length === 1,
    isByFlags: !config.registrationsAreNamed,
    pages,
    logger,
  };
  const resources = resourcesOfRegistration(config, registered);
  const frontEnds = frontEndConfigs.map((frontEnd) => {
    const own = resources.filter((one) => frontEnd.resources.includes(one.name));
    // The configuration is valid, so this cannot happen. A front end without its resources would get the provider's
    // token.
    if (frontEnd.resources.length > 0 && own.length === 0) throw new Error('no resource here');
    const refreshPolicy = refreshPolicyOf(config, frontEnd);
    return createFrontEnd({ ...frontEnd, refreshPolicy, resources: own }, ofFrontEnds);
  });
  const doors = createDoors(resources, frontEndConfigs, { ...grants, registered, issuer, now });
  const ofDoors = { ...context, grants, ofFrontEnds, issuer };
  const browserDoors = doors.flatMap((door) => createBrowserDoor(door, ofDoors) ?? []);
  const ownClients = browserDoors.map(({ client }) => client);
  return {
    /** The path is `/auth/<word>`. */
    word,
    /** The name of the provider for people. */
    title: registered.title,
    /** The path that the provider sends browsers back to, below the base URL. */
    callbackPath,
    registration: createRegistration({
      ...registered,
      callbackUri,
      protection,
      source,
      upstream,
      audienceAt,
      memory: memory.logins,
      limits: addressLimits,
      accessTime: config.providerTimeout,
    }),
    frontEnds: createFrontEnds(frontEnds, clients, ownClients),
    questions,
    peekLogin,
    isOwnCallback: (ctx: Context): boolean => states.isOwn(truncatedQuery(ctx)['state']),
    grants,
    limits: addressLimits,
    doors,
    /** What opens its resources to browsers. */
    browserDoors,
    issuer,
    now,
    pages,
  };
}

/** Creates what opens a resource to browsers. @returns undefined if the resource is not for browsers */
function createBrowserDoor(
  byToken: Door,
  by: PathContext & { readonly grants: Grants; readonly ofFrontEnds: FrontEndContext; readonly issuer: string },
): BrowserDoor | undefined {
  const { resource } = byToken;
  const { browser: terms } = resource;
  if (terms === undefined) return undefined;
  const { registered, keys, issuer, now } = by;
  // A browser's token lasts as long as its cookie, whatever the resource's `lifetime`.
  const resources = [{ ...resource, lifetime: terms.lifetime }];
  const settings = { ...frontEndForBrowsers(resource), door: resource.url, resources, refreshPolicy: undefined };
  const client = createFrontEnd(settings, by.ofFrontEnds);
  const accessTokens = createAccessTokens(keys.door, now, browserCookie);
  const rules = hashRules(allowsOf(registered, [settings, resource]), personSourceOf(registered), resource.identity);
  const ofCookies = {
    tokens: limitLifetime(accessTokens, terms.lifetime),
    endedLogins: by.grants.endedLogins,
    audienceOf: ({ frontEnd }: Pick<AccessTokenContent, 'frontEnd'>) =>
      frontEnd === client.name ? client.audience : undefined,
    rules: new Map([[client.name, rules]]),
    people: identifyUserBase(registered),
    issuer,
    now,
  };
  return {
    resource,
    terms,
    byToken,
    byCookie: createDoor(resource, ofCookies, 'cookie'),
    tickets: createDoorTickets(keys.door, resource, now),
    keys: keys.door,
    client,
    grants: { ...by.grants, accessTokens },
  };
}

/** The doors of a registration's resources, for tokens of its front ends. */
function createDoors(
  resources: readonly Resource[],
  frontEnds: readonly FrontEndConfig[],
  by: Pick<Grants, 'accessTokens' | 'endedLogins'> & Pick<PathContext, 'registered' | 'now'> & Pick<Door, 'issuer'>,
): readonly Door[] {
  const { accessTokens: tokens, endedLogins, registered, issuer, now } = by;
  const people = identifyUserBase(registered);
  const byName = new Map(frontEnds.map((frontEnd) => [frontEnd.name, frontEnd]));
  const credentialsOf = new Map(
    frontEnds.flatMap(({ name, credentials }) => (credentials ? [[name, credentialIds(credentials)]] : [])),
  );
  return resources.map((resource) => {
    const rulesFor = (frontEnd: FrontEndConfig) =>
      hashRules(allowsOf(registered, [frontEnd, resource]), personSourceOf(registered), resource.identity);
    const rules = new Map(frontEnds.map((one) => [one.name, rulesFor(one)]));
    /** The binding of tokens. Undefined if the front end or client may not use the resource any more. */
    const audienceOf: Parameters<typeof createDoor>[1]['audienceOf'] = ({
      frontEnd: frontEndName,
      client,
      credential,
    }) => {
      const frontEnd = byName.get(frontEndName);
      if (!frontEnd?.resources.includes(resource.name)) return undefined;
      const credentials = credentialsOf.get(frontEndName);
      // The entry may have changed between a person's front end and a machine.
      if (credential === undefined ? credentials : !credentials?.includes(credential)) return undefined;
      if (credential !== undefined) return audienceOfMachine(frontEndName, credential);
      const takesClients = frontEnd.clients !== undefined || frontEnd.clientKeys !== undefined;
      if (client !== undefined && !takesClients) return undefined;
      return audienceOfFrontEnd(client === undefined ? frontEnd : { ...frontEnd, client });
    };
    return createDoor(resource, { tokens, endedLogins, audienceOf, rules, people, issuer, now });
  });
}

/** The source of a registration's provider: its configuration, or discovery. */
async function createProviderSource(
  { name, provider: settings, clientId, clientSecret }: RegistrationConfig,
  upstream: UpstreamClient,
  { config: { registrations }, logger, memory: { providers } }: ServingContext,
): Promise<ProviderSource> {
  if ('known' in settings) return fixedProvider(settings.known);
  const discovery = {
    ...settings.discovered,
    clientId,
    encodingChanges: changesWhenEncoded({ clientId, clientSecret }),
  };
  const registration = registrations.length > 1 ? name : undefined;
  // A reload must not forget a provider whose metadata cannot be fetched now.
  const key = hashKey(JSON.stringify(discovery));
  return startDiscovery(
    async () => {
      const provider = await discoverProvider(upstream, discovery);
      providers.set(key, provider, Number.POSITIVE_INFINITY);
      return provider;
    },
    (attempt) => {
      const line = { registration, ...attempt };
      if (attempt.outcome === 'discovered') logger.info(line, 'provider discovery');
      else logger.warn(line, 'provider discovery');
    },
    providers.get(key),
  );
}
