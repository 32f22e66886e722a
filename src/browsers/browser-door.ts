import type { Clock } from '../clock.ts';
import type { Pages } from '../delivery/pages.ts';
import type { FrontEnd } from '../front-ends/front-end.ts';
import type { Served } from '../front-ends/front-ends.ts';
import type { Grants } from '../grants/grants.ts';
import type { Context } from '../http/context.ts';
import type { Door, Doors, Entered } from '../resources/door.ts';
import type { EndedLogins } from '../resources/ended-logins.ts';
import type { BrowserTerms, Resource } from '../resources/resource.ts';
import type { KeyRing } from '../sealing/keys.ts';
import type { DoorCookies } from './door-cookies.ts';
import type { DoorLogins, DoorTickets } from './door-logins.ts';

/**
 * What a resource needs to open to the browsers of one registration's people. The relay is an OAuth client of its own
 * here, and keeps the access token in a cookie of the browser. relay/create-doors.ts creates it.
 */
export interface BrowserDoor {
  readonly resource: Resource;
  readonly terms: BrowserTerms;
  /** The door for bearer tokens. */
  readonly byToken: Door;
  /** The door for the content of the cookie. */
  readonly byCookie: Door;
  readonly tickets: DoorTickets;
  /** The keys of the tickets, the cookies and the logins of these browsers. */
  readonly keys: KeyRing;
  /** The relay's own front end, to which these logins belong. */
  readonly client: FrontEnd;
  /** The grants of these logins. Their access tokens are the content of the cookie. */
  readonly grants: Grants;
}

/** A place to log in at, before a resource opens to a browser: one of the registrations whose people may use it. */
export interface DoorPlace {
  /**
   * The registration at one of its paths. `word` is the last part of the path, `title` the provider's name for people.
   */
  readonly served: Served & { readonly word: string; readonly title: string };
  readonly door: BrowserDoor;
}

/**
 * The host of a resource that opens to browsers. `enterDoor` in routes/enter-door.ts lets requests in;
 * relay/browser-doors.ts creates it.
 */
export interface DoorHost {
  /** The resource, as the first of its registrations has it. */
  readonly resource: Resource;
  readonly origin: string;
  readonly terms: BrowserTerms;
  /** The places to log in at, one for each registration, in the order in which people can choose them. */
  readonly places: readonly [DoorPlace, ...DoorPlace[]];
  /** The doors for bearer tokens. */
  readonly byToken: Doors;
  /** The doors for the content of the cookie. */
  readonly byCookie: Doors;
  readonly cookies: DoorCookies;
  readonly logins: DoorLogins;
  readonly endedLogins: EndedLogins;
  readonly pages: Pages;
  readonly now: Clock;
}

/**
 * Finds the place where the people of a registration log in. Undefined if the resource does not serve the registration,
 * for example after a reload.
 */
export function findPlace(
  { places }: Pick<DoorHost, 'places'>,
  registration: string | undefined,
): DoorPlace | undefined {
  return places.find(({ door }) => door.resource.registration === registration);
}

/**
 * Opens the cookie of a browser, even if its login has ended. It neither calls the provider nor asks the shared memory,
 * so it does not fail.
 */
export function openEvenIfEnded(
  { cookies, places }: Pick<DoorHost, 'cookies' | 'places'>,
  ctx: Context,
): Entered | undefined {
  const cookie = cookies.get(ctx);
  if (cookie === undefined) return undefined;
  for (const { door } of places) {
    const opened = door.grants.accessTokens.open(cookie, door.resource);
    if (opened !== undefined) return { door: door.byCookie, opened };
  }
  return undefined;
}
