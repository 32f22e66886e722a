import type { FrontEnd } from '../front-ends/front-end.ts';
import type { Grants } from '../grants/grants.ts';
import type { Door } from '../resources/door.ts';
import type { BrowserTerms, Resource } from '../resources/resource.ts';
import type { DoorCookies } from './door-cookies.ts';
import type { DoorLogins } from './door-logins.ts';

/**
 * How browsers open a resource. Here the relay is its own OAuth client, and keeps the access token in a cookie.
 * `enterDoor` in routes/enter-door.ts opens it; relay/registrations.ts creates it.
 */
export interface BrowserDoor {
  readonly resource: Resource;
  readonly origin: string;
  readonly terms: BrowserTerms;
  /** Opens to tokens. */
  readonly byToken: Door;
  /** Opens to what the cookie holds. */
  readonly byCookie: Door;
  readonly cookies: DoorCookies;
  readonly logins: DoorLogins;
  /** The relay's own front end, which these logins belong to. */
  readonly client: FrontEnd;
  /** What a login grants: its access token is the content of the cookie. */
  readonly grants: Grants;
}
