import type { Logger } from 'pino';
import { createClients } from '../clients/clients.ts';
import type { Documents } from '../clients/documents.ts';
import type { Clock } from '../clock.ts';
import type { Config, FrontEndConfig, RegistrationConfig } from '../config/config.ts';
import { mapped } from '../config/readings.ts';
import {
  audienceOf,
  frontEndsOf,
  refreshPolicyOf,
  resourcesOf,
} from '../config/registration-config.ts';
import type { Pages } from '../delivery/pages.ts';
import {
  audienceOfFrontEnd,
  createFrontEnd,
  type FrontEndContext,
} from '../front-ends/front-end.ts';
import { createFrontEnds } from '../front-ends/front-ends.ts';
import { createGrants, type Grants } from '../grants/grants.ts';
import { limits } from '../limits.ts';
import { createAddressLimits } from '../login/address-limits.ts';
import { createLoginProtection } from '../login/protection.ts';
import { createRegistration } from '../login/registration.ts';
import { createStates } from '../login/state.ts';
import { encodingChanges } from '../oauth/client-authentication.ts';
import { registrationPath } from '../paths.ts';
import type { Provider } from '../providers/provider.ts';
import { createDoor, type Door } from '../resources/door.ts';
import type { Resource } from '../resources/resource.ts';
import { type Keys, keysOf } from '../sealing/keys.ts';
import type { Sessions } from '../session/sessions.ts';
import { createUpstreamClient, type UpstreamClient } from '../upstream/client.ts';
import { discoverProvider } from '../upstream/discovery.ts';
import {
  derivedFrom,
  discoveredProvider,
  knownProvider,
  type ProviderSource,
} from '../upstream/provider-source.ts';
import type { Memory } from './memory.ts';

/** A registration with all that its routes need. */
export type ServedRegistration = Awaited<ReturnType<typeof serveRegistration>>;

/** What names a registration: the words of its paths. */
export const wordsOf = ({ word, others }: ServedRegistration): readonly string[] => [
  word,
  ...others.map((one) => one.word),
];

/** The same at one of its paths. */
export type ServedPath = ReturnType<typeof servePath>;

/** What the registrations of a relay share. */
export interface ServingContext {
  readonly config: Config;
  readonly logger: Logger;
  readonly now: Clock;
  readonly memory: Memory;
  /** Undefined if no front end has sessions. */
  readonly sessions: Sessions | undefined;
  /** Those of clients that nobody registered. */
  readonly documents: Documents;
  readonly pages: Pages;
}

/**
 * Creates a configured registration with its own connections, so that a slow provider does not slow down
 * the logins at others.
 */
export async function serveRegistration(registered: RegistrationConfig, context: ServingContext) {
  const { config } = context;
  const upstream = createUpstreamClient({
    timeout: config.providerTimeout,
    concurrentCalls: limits.providerCalls,
    proxy: config.proxy,
  });
  const [keys, source] = await Promise.all([
    keysOf(config.keySecrets, registered.clientSecret),
    providerSource(registered, upstream, context),
  ]);
  const shared = { ...context, registered, upstream, keys, source };
  const [first, ...others] = mapped(registered.paths, (path) => servePath(path, shared));
  return {
    ...first,
    /** The same at its other paths. */
    others,
    source,
    /** The number of calls to the provider in flight. */
    callsInFlight: upstream.inFlight,
    /** Stops discovery and closes the connections to the provider. */
    close(): void {
      source.close();
      upstream.close();
    },
  };
}

/** What the paths of a registration share. */
interface PathContext extends ServingContext {
  readonly registered: RegistrationConfig;
  readonly upstream: UpstreamClient;
  readonly keys: Keys;
  readonly source: ProviderSource;
}

/** A login stays at the path where it began: the provider compares the redirect URI, and front ends the issuer. */
function servePath(
  { word, redirectUri }: RegistrationConfig['paths'][number],
  { config, logger, now, memory, sessions, documents, pages, ...shared }: PathContext,
) {
  const { registered, upstream, keys, source } = shared;
  const audienceAt = (provider: Provider) => audienceOf(registered, provider);
  const audience = derivedFrom(source, audienceAt);
  const states = createStates(keys.state, audience, redirectUri);
  const grants = createGrants(keys, audience, redirectUri, memory.grants, now);
  const { baseUrl } = config;
  const { name, provider, stateCheck } = registered;
  const issuer = baseUrl + registrationPath(word);
  const ofLogins = { baseUrl, redirectUri };
  const protection =
    stateCheck === 'off'
      ? undefined
      : createLoginProtection({ ...ofLogins, stateCheck }, states, now);
  const questions = createLoginProtection(
    { ...ofLogins, stateCheck: 'always' },
    createStates(keys.consent, audience, redirectUri, 'consent'),
    now,
  );
  const users = frontEndsOf(config, registered);
  const addressLimits = createAddressLimits(config, memory.logins);
  const clients = createClients(users, {
    ...addressLimits,
    ...{ issuer, keys: keys.client, documents, now },
  });
  const ofFrontEnds: FrontEndContext = {
    registration: name,
    issuer,
    audience,
    states,
    codes: grants.codes,
    sessions,
    cmsBackend: 'known' in provider ? provider.known.cms?.name : undefined,
    isOnlyOne: users.length === 1,
    pages,
    logger,
  };
  const resources = resourcesOf(config, registered);
  const frontEnds = mapped(users, (user) => {
    const own = resources.filter((one) => user.resources.includes(one.name));
    // The configuration is checked. It would get the provider's token.
    if (user.resources.length > 0 && own.length === 0) throw new Error('no resource here');
    const refreshPolicy = refreshPolicyOf(config, user);
    return createFrontEnd({ ...user, refreshPolicy, resources: own }, ofFrontEnds);
  });
  return {
    /** The path is `/auth/<word>`. */
    word,
    registration: createRegistration({
      ...registered,
      redirectUri,
      protection,
      source,
      upstream,
      audienceAt,
      memory: memory.logins,
      limits: addressLimits,
      accessTime: config.providerTimeout,
    }),
    frontEnds: createFrontEnds(frontEnds, clients),
    /** Ask people before clients log in that nobody registered. */
    questions,
    states,
    grants,
    limits: addressLimits,
    doors: doorsOf(resources, users, grants, now),
    /** The relay's name in `iss`. @see RFC 8414 §2, RFC 9207 §2 */
    issuer,
    now,
    pages,
  };
}

/** @param users the front ends of the registration */
function doorsOf(
  resources: readonly Resource[],
  users: readonly FrontEndConfig[],
  { accessTokens: tokens, endedLogins }: Grants,
  now: Clock,
): readonly Door[] {
  const byName = new Map(users.map((user) => [user.name, user]));
  return resources.map((resource) => {
    const audienceOf = (name: string, client: string | undefined) => {
      const user = byName.get(name);
      if (!user?.resources.includes(resource.name)) return undefined;
      const isClosed = user.clients === undefined && user.clientKeys === undefined;
      if (client !== undefined && isClosed) return undefined;
      return audienceOfFrontEnd(client === undefined ? user : { ...user, client });
    };
    return createDoor(resource, { tokens, endedLogins, audienceOf, now });
  });
}

async function providerSource(
  { name, provider: settings, clientId, clientSecret }: RegistrationConfig,
  upstream: UpstreamClient,
  { config: { registrations }, logger, memory: { providers } }: ServingContext,
): Promise<ProviderSource> {
  if ('known' in settings) return knownProvider(settings.known);
  const discovery = {
    ...settings.discovered,
    encodingChanges: encodingChanges({ clientId, clientSecret }),
  };
  const registration = registrations.length > 1 ? name : undefined;
  // A reload must not forget a provider whose metadata cannot be fetched at the moment.
  const key = JSON.stringify(settings.discovered);
  return discoveredProvider(
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
