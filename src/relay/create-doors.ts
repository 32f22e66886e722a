import { allowsOf, hashRules } from '../access/allow.ts';
import type { BrowserDoor } from '../browsers/browser-door.ts';
import { limitLifetime } from '../browsers/door-cookies.ts';
import { createDoorTickets } from '../browsers/door-logins.ts';
import type { Clock } from '../clock.ts';
import type { FrontEndConfig, RegistrationConfig } from '../config/config.ts';
import { frontEndOfDoor, identifyUserBase, personSourceOf } from '../config/relations.ts';
import { audienceOfFrontEnd, createFrontEnd, type FrontEndContext } from '../front-ends/front-end.ts';
import { audienceOfMachine, credentialIds } from '../front-ends/machine-credentials.ts';
import type { Grants } from '../grants/grants.ts';
import { type AccessTokenContent, browserCookie, createAccessTokens } from '../resources/access-tokens.ts';
import { createDoor, type Door } from '../resources/door.ts';
import type { Resource } from '../resources/resource.ts';
import type { Keys } from '../sealing/keys.ts';

/** The parts of a registration that its doors need. */
interface DoorContext {
  readonly registered: RegistrationConfig;
  readonly grants: Grants;
  readonly issuer: string;
  readonly now: Clock;
}

/**
 * Hashes the rules that now decide who may use a resource through a front end. A token names the hash that applied when
 * it was issued (`issueForResource` in routes/granted-token.ts), and a door refuses the token if the hash has changed.
 * So both places must hash the same values.
 */
function hashPresentRules(registered: RegistrationConfig, frontEnd: Pick<FrontEndConfig, 'allow'>, resource: Resource) {
  return hashRules(allowsOf(registered, [frontEnd, resource]), personSourceOf(registered), resource.identity);
}

/** Creates the doors of a registration's resources, for tokens of its front ends. */
export function createDoors(
  resources: readonly Resource[],
  frontEnds: readonly FrontEndConfig[],
  { registered, grants, issuer, now }: DoorContext,
): readonly Door[] {
  const { accessTokens: tokens, endedLogins } = grants;
  const people = identifyUserBase(registered);
  const findAudience = createAudienceFinder(frontEnds);
  return resources.map((resource) => {
    const rules = new Map(
      frontEnds.map((frontEnd) => [frontEnd.name, hashPresentRules(registered, frontEnd, resource)]),
    );
    const audienceOf = (token: TokenHolder) => findAudience(token, resource);
    return createDoor(resource, { tokens, endedLogins, audienceOf, rules, people, issuer, now });
  });
}

type TokenHolder = Pick<AccessTokenContent, 'frontEnd' | 'client' | 'credential'>;

/**
 * Creates a function that finds the audience to which a token for a resource must be bound. It returns undefined if the
 * front end, the client or the machine may not use the resource any more.
 */
function createAudienceFinder(frontEnds: readonly FrontEndConfig[]) {
  const frontEndsByName = new Map(frontEnds.map((frontEnd) => [frontEnd.name, frontEnd]));
  const credentialsByName = new Map(
    frontEnds.flatMap(({ name, credentials }) => (credentials ? [[name, credentialIds(credentials)]] : [])),
  );
  return ({ frontEnd: name, client, credential }: TokenHolder, resource: Resource) => {
    const frontEnd = frontEndsByName.get(name);
    if (!frontEnd?.resources.includes(resource.name)) return undefined;
    const credentials = credentialsByName.get(name);
    if (credential !== undefined) {
      return credentials?.includes(credential) ? audienceOfMachine(name, credential) : undefined;
    }
    // The entry is a machine's now, and was a front end of people when the token was issued.
    if (credentials !== undefined) return undefined;
    if (client === undefined) return audienceOfFrontEnd(frontEnd);
    const takesClients = frontEnd.clients !== undefined || frontEnd.clientKeys !== undefined;
    return takesClients ? audienceOfFrontEnd({ ...frontEnd, client }) : undefined;
  };
}

/** Creates the door of a resource for browsers. @returns undefined if the resource does not open to browsers */
export function createBrowserDoor(
  byToken: Door,
  keys: Keys,
  frontEndContext: FrontEndContext,
  { registered, grants, issuer, now }: DoorContext,
): BrowserDoor | undefined {
  const { resource } = byToken;
  const { browser: terms } = resource;
  if (terms === undefined) return undefined;
  // A browser's token lasts as long as its cookie, and not as long as the resource's `lifetime` says.
  const resources = [{ ...resource, lifetime: terms.lifetime }];
  const settings = { ...frontEndOfDoor(resource), door: resource.url, resources, refreshPolicy: undefined };
  const client = createFrontEnd(settings, frontEndContext);
  const accessTokens = createAccessTokens(keys.door, now, browserCookie);
  const doorContext = {
    tokens: limitLifetime(accessTokens, terms.lifetime),
    endedLogins: grants.endedLogins,
    audienceOf: ({ frontEnd }: TokenHolder) => (frontEnd === client.name ? client.audience : undefined),
    rules: new Map([[client.name, hashPresentRules(registered, settings, resource)]]),
    people: identifyUserBase(registered),
    issuer,
    now,
  };
  return {
    resource,
    terms,
    byToken,
    byCookie: createDoor(resource, doorContext, 'cookie'),
    tickets: createDoorTickets(keys.door, resource, now),
    keys: keys.door,
    client,
    grants: { ...grants, accessTokens },
  };
}
