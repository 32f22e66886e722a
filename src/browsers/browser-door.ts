import type { FrontEnd } from '../front-ends/front-end.ts';
import type { Grants } from '../grants/grants.ts';
import type { Door } from '../resources/door.ts';
import type { BrowserTerms, Resource } from '../resources/resource.ts';
import type { DoorCookies } from './door-cookies.ts';
import type { DoorLogins } from './door-logins.ts';

/**
 * What a resource needs to open to browsers. The relay is an OAuth client of its own here, and keeps the access token in
 * a cookie of the browser. `enterDoor` in routes/enter-door.ts lets requests in; relay/registrations.ts creates the door.
 */
export interface BrowserDoor {
  readonly resource: Resource;
  readonly origin: string;
  readonly terms: BrowserTerms;
  /** The door for bearer tokens. */
  readonly byToken: Door;
  /** The door for the content of the cookie. */
  readonly byCookie: Door;
  readonly cookies: DoorCookies;
  readonly logins: DoorLogins;
  /** The relay's own front end, to which these logins belong. */
  readonly client: FrontEnd;
  /** The grants of these logins. Their access tokens are the content of the cookie. */
  readonly grants: Grants;
}
