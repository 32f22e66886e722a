import type { DoorHost, DoorPlace } from '../browsers/browser-door.ts';
import { createDoorCookies } from '../browsers/door-cookies.ts';
import { createDoorLogins } from '../browsers/door-logins.ts';
import { mapNonEmpty } from '../config/readings.ts';
import { RelayError } from '../failures/relay-error.ts';
import type { Context, Handler } from '../http/context.ts';
import { answerFailures, withFailureAnswer } from '../http/error-responder.ts';
import type { FindAsked } from '../http/forwarded-request.ts';
import { refusePrefetch } from '../http/request-guards.ts';
import { doorPaths, doorStartPath, ownPrefix, pathOfAnswer, pathOfCheck } from '../paths.ts';
import { answerBrowser, checkBrowser, type WarnOfCheckedPaths } from '../routes/check-browser.ts';
import { chooseProvider } from '../routes/choose-provider.ts';
import { doorCallback, spendForeignCode, startAtDoor } from '../routes/door-callback.ts';
import { continueLogin } from '../routes/door-login.ts';
import { describeUser, logoutAtDoor } from '../routes/door-session.ts';
import { answerAtDoor, answerWhereNothingIs } from '../routes/enter-door.ts';
import { createHandler, type Endpoint, type EndpointContext } from './endpoint.ts';
import { groupByResource } from './group-by-resource.ts';
import { noPages } from './readers.ts';
import type { ServedRegistration } from './registrations.ts';

/** Creates the hosts of the resources that open to browsers. */
export function createDoorHosts(served: readonly ServedRegistration[]): readonly DoorHost[] {
  const places = served.flatMap((registration) =>
    registration.browserDoors.map((door): DoorPlace => ({ served: registration, door })),
  );
  return groupByResource(places, ({ door }) => door.resource).map(createDoorHost);
}

/** Creates the host of one resource, with a place for each registration whose people may open it. */
function createDoorHost(places: readonly [DoorPlace, ...DoorPlace[]]): DoorHost {
  const [{ served, door }] = places;
  const { resource, keys, terms } = door;
  const { now, pages } = served;
  return {
    resource,
    origin: new URL(resource.url).origin,
    terms,
    places,
    byToken: mapNonEmpty(places, (place) => place.door.byToken),
    byCookie: mapNonEmpty(places, (place) => place.door.byCookie),
    cookies: createDoorCookies(resource),
    logins: createDoorLogins(keys, resource, now),
    endedLogins: served.grants.endedLogins,
    pages,
    now,
  };
}

/**
 * The settings of all addresses of a door except the start of a login. Proxies and browsers ask for these again and
 * again (`isFrequent`). Pages of other origins can read none of the responses.
 */
const common = { readers: noPages, isFrequent: true } as const;

/** The addresses of a door on the relay's own host. Proxies ask there, and logins start there. */
export function doorEndpointsAtLogin(
  host: DoorHost,
  findAsked: FindAsked,
  warn: WarnOfCheckedPaths,
): readonly Endpoint[] {
  const { name } = host.resource;
  const failures = answerFailures(answerAtDoor(host));
  return [
    // All methods, because some proxies ask with the method of the original request.
    {
      ...common,
      path: pathOfCheck(name),
      action: 'check',
      failures,
      isLimited: false,
      handle: checkBrowser(host, findAsked, warn),
    },
    {
      ...common,
      path: pathOfAnswer(name),
      action: 'check-answer',
      failures,
      isLimited: false,
      handle: answerBrowser(host, findAsked, warn),
    },
    ...host.places.map(startEndpointAt),
  ];
}

/**
 * The address where a browser starts the login for a resource, on the relay's own host. It is not frequent, because it
 * is asked for only once in a login.
 */
function startEndpointAt(place: DoorPlace): Endpoint {
  const { served, door } = place;
  return {
    readers: noPages,
    path: doorStartPath(served.word, door.resource.name),
    route: doorStartPath(served.word, ':resource'),
    action: 'start',
    methods: ['GET'],
    failures: answerFailures(door.client.answerInPlace),
    guards: [refusePrefetch],
    // A start calls no provider.
    isLimited: false,
    handle: startAtDoor(place),
  };
}

/** Creates the relay's own addresses at the hosts of resources that open to browsers. */
export function createBrowserDoors(hosts: readonly DoorHost[], context: EndpointContext): Handler {
  const byHostname = new Map(
    hosts.map((host) => {
      const paths = doorEndpointsAtResource(host).map(
        (endpoint) => [endpoint.path, createHandler(endpoint, context)] as const,
      );
      return [new URL(host.origin).hostname, { handlers: new Map(paths), answer: answerWhereNothingIs(host.pages) }];
    }),
  );
  return (ctx: Context, next) => {
    // The path is not decoded here. An application that decodes it must not see an address that was not compared.
    if (!ctx.path.startsWith(ownPrefix)) return next();
    const found = byHostname.get(ctx.hostname.toLowerCase());
    if (found === undefined) return next();
    const handle = found.handlers.get(ctx.path);
    if (handle !== undefined) return handle(ctx, next);
    return withFailureAnswer(found.answer, () => {
      throw new RelayError('not_found');
    });
  };
}

/** The relay's own addresses at the host of a resource. */
function doorEndpointsAtResource(host: DoorHost): readonly Endpoint[] {
  const settings = { ...common, failures: answerFailures(answerAtDoor(host)) };
  return [
    // The address also exists for a single provider, because a reload may take the others away while a person chooses.
    {
      ...settings,
      path: doorPaths.choose,
      action: 'door-choose',
      methods: ['GET', 'POST'],
      guards: [refusePrefetch],
      isLimited: true,
      handle: chooseProvider(host),
    },
    {
      ...settings,
      path: doorPaths.login,
      action: 'door-login',
      methods: ['GET'],
      guards: [refusePrefetch],
      // It calls no provider.
      isLimited: false,
      handle: continueLogin(host),
    },
    {
      ...settings,
      path: doorPaths.callback,
      action: 'door-callback',
      methods: ['GET'],
      guards: [spendForeignCode(host), refusePrefetch],
      isLimited: true,
      handle: doorCallback(host),
    },
    {
      ...settings,
      path: doorPaths.logout,
      action: 'door-logout',
      methods: ['GET', 'POST'],
      isLimited: true,
      handle: logoutAtDoor(host),
    },
    {
      ...settings,
      path: doorPaths.user,
      action: 'door-user',
      methods: ['GET', 'HEAD'],
      isLimited: false,
      handle: describeUser(host),
    },
  ];
}
