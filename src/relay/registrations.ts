import type { Logger } from 'pino';
import { createClients } from '../clients/clients.ts';
import type { Documents } from '../clients/fetch-documents.ts';
import type { Clock } from '../clock.ts';
import type { Config, RegistrationConfig } from '../config/config.ts';
import { mapNonEmpty } from '../config/readings.ts';
import {
  frontEndsOfRegistration,
  identifyRegistration,
  refreshPolicyOf,
  resourcesOfRegistration,
} from '../config/relations.ts';
import type { Pages } from '../delivery/pages.ts';
import { createFrontEnd, type FrontEndContext } from '../front-ends/front-end.ts';
import { createFrontEnds } from '../front-ends/front-ends.ts';
import { createGrants } from '../grants/grants.ts';
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
import { deriveKeys, type Keys } from '../sealing/keys.ts';
import type { Sessions } from '../session/sessions.ts';
import { createUpstreamClient, type UpstreamClient } from '../upstream/client.ts';
import { discoverProvider } from '../upstream/discovery.ts';
import { cacheByProvider, fixedProvider, type ProviderSource, startDiscovery } from '../upstream/provider-source.ts';
import { createBrowserDoor, createDoors } from './create-doors.ts';
import type { Memory } from './memory.ts';

export type ServedRegistration = Awaited<ReturnType<typeof serveRegistration>>;

/** The words of all paths of a registration, `/auth/<word>`. */
export const wordsOfPaths = ({ word, others }: ServedRegistration): readonly string[] => [
  word,
  ...others.map((other) => other.word),
];

/** A registration at one of its paths. */
export type ServedPath = ReturnType<typeof servePath>;

/** The parts of the relay that all registrations share. */
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
 * Serves a configured registration at all its paths. It has connections of its own, so that a slow provider does not
 * slow down the logins at others.
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

/** Creates the HTTP client for the calls to a provider. */
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
 * Returns the words to which states and codes are bound: the callback URL, which the provider compares, and also the
 * word of the path if all paths share a configured callback URL, because front ends compare the issuer.
 */
function bindingOfPath({ word, callbackPath, callbackUri }: RegistrationConfig['paths'][number]): string {
  return callbackPath === defaultCallbackPath(word) ? callbackUri : `${callbackUri} ${word}`;
}

/**
 * Serves a registration at one of its paths. A login stays at its path, because the provider compares the redirect URI,
 * and front ends compare the issuer.
 */
function servePath(path: RegistrationConfig['paths'][number], context: PathContext) {
  const { word, callbackPath, callbackUri } = path;
  const { config, logger, now, memory, sessions, documents, pages } = context;
  const { registered, upstream, keys, source } = context;
  const { baseUrl } = config;
  const { name, provider, stateCheck } = registered;
  const issuer = baseUrl + registrationPath(word);
  const binding = bindingOfPath(path);
  /** The audience of the relay's texts, which changes if discovery returns another provider. */
  const audienceAt = (known: Provider) => identifyRegistration(registered, known);
  const audience = cacheByProvider(source, audienceAt);
  const states = createStates(keys.state, audience, binding);
  const peekLogin = createPeekLogin(states, callbackUri);
  const grants = createGrants(keys, audience, binding, memory.grants, now);
  const createProtection = (check: Exclude<typeof stateCheck, 'off'>, checkedStates: typeof states) =>
    createLoginProtection({ baseUrl, callbackUri, stateCheck: check }, checkedStates, now);
  const protection = stateCheck === 'off' ? undefined : createProtection(stateCheck, states);
  const consentStates = createStates(keys.consent, audience, binding, 'consent');
  const frontEndConfigs = frontEndsOfRegistration(config, registered);
  const addressLimits = createAddressLimits(config, memory.logins);
  const clients = createClients(frontEndConfigs, { ...addressLimits, issuer, keys: keys.client, documents, now });
  const frontEndContext: FrontEndContext = {
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
    const ownResources = resources.filter((resource) => frontEnd.resources.includes(resource.name));
    // The configuration is valid, so this cannot happen. A front end without its resources would get the provider's
    // token.
    if (frontEnd.resources.length > 0 && ownResources.length === 0) throw new Error('no resource here');
    const refreshPolicy = refreshPolicyOf(config, frontEnd);
    return createFrontEnd({ ...frontEnd, refreshPolicy, resources: ownResources }, frontEndContext);
  });
  const doorContext = { registered, grants, issuer, now };
  const doors = createDoors(resources, frontEndConfigs, doorContext);
  const browserDoors = doors.flatMap((door) => createBrowserDoor(door, keys, frontEndContext, doorContext) ?? []);
  const doorClients = browserDoors.map(({ client }) => client);
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
    frontEnds: createFrontEnds(frontEnds, clients, doorClients),
    /** Protects the questions for consent. */
    questions: createProtection('always', consentStates),
    peekLogin,
    /**
     * Whether the login of a callback began at this path, as its state says. All paths of a registration share a
     * callback path that is configured.
     */
    isOwnCallback: (ctx: Context): boolean => states.isOwn(truncatedQuery(ctx)['state']),
    grants,
    limits: addressLimits,
    doors,
    /** The doors of those resources that open to browsers. */
    browserDoors,
    issuer,
    now,
    pages,
  };
}

/** Creates the source of a registration's provider: its configuration, or discovery. */
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
