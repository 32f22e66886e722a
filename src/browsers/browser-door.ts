import type { FrontEnd } from '../front-ends/front-end.ts';
import type { Grants } from '../grants/grants.ts';
import type { Door } from '../resources/door.ts';
import type { BrowserTerms, Resource } from '../resources/resource.ts';
import type { DoorCookies } from './door-cookies.ts';
import type { DoorLogins } from './door-logins.ts';

/** What opens a resource to browsers. The relay is an OAuth client of its own here, and keeps its token in a cookie. */
export interface BrowserDoor {
  readonly resource: Resource;
  /** Where pages of the resource are. */
  readonly origin: string;
  readonly terms: BrowserTerms;
  /** Opens to tokens. */
  readonly byToken: Door;
  /** Opens to what the cookie holds. */
  readonly byCookie: Door;
  readonly cookies: DoorCookies;
  readonly logins: DoorLogins;
  /** The relay as the client whose logins these are. */
  readonly client: FrontEnd;
  /** What a login grants: its access token is the content of the cookie. */
  readonly grants: Grants;
}
