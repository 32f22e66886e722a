import { RelayError } from '../failures/relay-error.ts';
import type { Context, Handler } from '../http/context.ts';
import { answerFailures } from '../http/error-responder.ts';
import type { FindAsked } from '../http/forwarded-request.ts';
import { refusePrefetch } from '../http/request-guards.ts';
import { answerPath, checkPath, doorPaths, doorStartPath, ownPrefix } from '../paths.ts';
import { answerBrowser, checkBrowser } from '../routes/check-browser.ts';
import { doorCallback, spendForeignCode, startAtDoor } from '../routes/door-callback.ts';
import { describeUser, logoutAtDoor } from '../routes/door-session.ts';
import { answerAtDoor, type DoorPlace } from '../routes/enter-door.ts';
import { createHandler, type Endpoint, type EndpointContext } from './endpoint.ts';
import { noPages } from './readers.ts';
import type { ServedRegistration } from './registrations.ts';

/** The resources that open to browsers, each with its registration. */
export const doorPlacesOf = (served: readonly ServedRegistration[]): readonly DoorPlace[] =>
  served.flatMap((one) => one.browserDoors.map((door) => ({ served: one, door })));

/** Common to all addresses of a door. Pages of other origins can read none of them. */
const common = { readers: noPages, isFrequent: true } as const;

/** The addresses of a door at the host of the login: where a proxy asks, and where logins start. */
export function endpointsOfDoor(place: DoorPlace, findAsked: FindAsked): readonly Endpoint[] {
  const { served, door } = place;
  const { name } = door.resource;
  const failures = answerFailures(answerAtDoor(place));
  return [
    // All methods, because some proxies ask with the method of the original request.
    {
      ...common,
      path: checkPath(name),
      action: 'check',
      failures,
      isLimited: false,
      handle: checkBrowser(place, findAsked),
    },
    {
      ...common,
      path: answerPath(name),
      action: 'check-answer',
      failures,
      isLimited: false,
      handle: answerBrowser(place, findAsked),
    },
    {
      readers: noPages,
      path: doorStartPath(served.word, name),
      route: `${doorStartPath(served.word, ':resource')}`,
      action: 'start',
      methods: ['GET'],
      failures: answerFailures(door.client.answerInPlace),
      guards: [refusePrefetch],
      isLimited: false,
      handle: startAtDoor(place),
    },
  ];
}

/** Creates the relay's own addresses at the hosts of resources that open to browsers. */
export function createBrowserDoors(places: readonly DoorPlace[], context: EndpointContext): Handler {
  const byHostname = new Map(
    places.map((place) => {
      const paths = ownEndpoints(place).map((endpoint) => [endpoint.path, createHandler(endpoint, context)] as const);
      return [new URL(place.door.origin).hostname, new Map(paths)];
    }),
  );
  return (ctx: Context, next) => {
    // Not decoded: otherwise a server that decodes paths could see an address that was not compared.
    if (!ctx.path.startsWith(ownPrefix)) return next();
    const own = byHostname.get(ctx.hostname.toLowerCase());
    if (own === undefined) return next();
    const handle = own.get(ctx.path);
    if (handle === undefined) throw new RelayError('not_found');
    return handle(ctx, next);
  };
}

function ownEndpoints(place: DoorPlace): readonly Endpoint[] {
  const own = { ...common, failures: answerFailures(answerAtDoor(place)) };
  return [
    {
      ...own,
      path: doorPaths.callback,
      action: 'door-callback',
      methods: ['GET'],
      guards: [spendForeignCode(place), refusePrefetch],
      isLimited: true,
      handle: doorCallback(place),
    },
    {
      ...own,
      path: doorPaths.logout,
      action: 'door-logout',
      methods: ['GET', 'POST'],
      isLimited: true,
      handle: logoutAtDoor(place),
    },
    {
      ...own,
      path: doorPaths.user,
      action: 'door-user',
      methods: ['GET', 'HEAD'],
      isLimited: false,
      handle: describeUser(place),
    },
  ];
}
