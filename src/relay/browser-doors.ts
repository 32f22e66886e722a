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

/** The settings of all addresses of a door. Pages of other origins can read none of the responses. */
const common = { readers: noPages, isFrequent: true } as const;

/** The addresses of a door at the host of the login. Proxies ask there, and logins start there. */
export function doorEndpointsAtLogin(place: DoorPlace, findAsked: FindAsked): readonly Endpoint[] {
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
      const paths = doorEndpointsAtResource(place).map(
        (endpoint) => [endpoint.path, createHandler(endpoint, context)] as const,
      );
      return [new URL(place.door.origin).hostname, new Map(paths)];
    }),
  );
  return (ctx: Context, next) => {
    // The path is not decoded here. An application that decodes it must not see an address that was not compared.
    if (!ctx.path.startsWith(ownPrefix)) return next();
    const handlers = byHostname.get(ctx.hostname.toLowerCase());
    if (handlers === undefined) return next();
    const handle = handlers.get(ctx.path);
    if (handle === undefined) throw new RelayError('not_found');
    return handle(ctx, next);
  };
}

/** The relay's own addresses at the host of a resource. */
function doorEndpointsAtResource(place: DoorPlace): readonly Endpoint[] {
  const settings = { ...common, failures: answerFailures(answerAtDoor(place)) };
  return [
    {
      ...settings,
      path: doorPaths.callback,
      action: 'door-callback',
      methods: ['GET'],
      guards: [spendForeignCode(place), refusePrefetch],
      isLimited: true,
      handle: doorCallback(place),
    },
    {
      ...settings,
      path: doorPaths.logout,
      action: 'door-logout',
      methods: ['GET', 'POST'],
      isLimited: true,
      handle: logoutAtDoor(place),
    },
    {
      ...settings,
      path: doorPaths.user,
      action: 'door-user',
      methods: ['GET', 'HEAD'],
      isLimited: false,
      handle: describeUser(place),
    },
  ];
}
