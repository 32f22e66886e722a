import {
  defaultCallbackPath,
  doPathsOverlap,
  endpointNames,
  namesInPath,
  ownPaths,
  ownPrefix,
  paths,
  registrationPath,
} from '../../paths.ts';
import type { Readings, RegistrationReading } from '../readings.ts';

/**
 * Checks the configured callback paths. Each must lead to one registration only, and to nothing else of the relay. The
 * comparison ignores case and a final slash, as some proxies do.
 */
export function checkCallbackPaths(readings: Readings): void {
  for (const reading of readings.registrations) {
    const { callbackPath } = reading.values;
    const why = callbackPath && whyPathIsTaken(callbackPath.toLowerCase(), reading, readings);
    if (why) reading.reportFault('callbackPath', why);
  }
}

/** Says what a callback path (in lower case) conflicts with; undefined if nothing. */
function whyPathIsTaken(path: string, reading: RegistrationReading, readings: Readings): string | undefined {
  const taken = findOwnPath(path, readings) ?? findRegistrationPath(path, reading, readings);
  if (taken) return `contains a path of the relay, or is below one: ${taken}`;
  // If two providers shared a path, either could send the other's code to the relay (mix-up attack). RFC 9700 §4.4.2
  const sharing = readings.registrations.find((other) => other !== reading && isSame(path, other.values.callbackPath));
  if (sharing) {
    return `is that of providers.${sharing.name}, too: register another callback URL at one of the two providers`;
  }
  return whyPathIsTakenByEntry(path, readings);
}

/** Finds a fixed path of the relay, or the path in its base URL, that a callback path would hide or be hidden by. */
function findOwnPath(path: string, { relay }: Readings): string | undefined {
  const { pathname: base } = new URL(relay.baseUrl);
  // Below `/auth`, only the paths of registrations and some endpoints are taken.
  const fixed = [...ownPaths.filter((ownPath) => ownPath !== paths.cmsLogin), ownPrefix];
  if (base !== '/') fixed.push(base);
  const found = fixed.find((ownPath) => doPathsOverlap(ownPath.toLowerCase(), path));
  return found ?? (isSame(path, paths.cmsLogin) ? paths.cmsLogin : undefined);
}

/** Finds the path below `/auth` of an endpoint or a registration that contains the callback path of `reading`. */
function findRegistrationPath(
  path: string,
  reading: RegistrationReading,
  { registrations }: Readings,
): string | undefined {
  const { registration: word } = namesInPath(path);
  if (word === undefined) return undefined;
  const wordsOf = ({ name, values }: RegistrationReading) => [name, values.provider ?? name];
  const takenByOthers = registrations.filter((other) => other !== reading).flatMap(wordsOf);
  const { withSessions, withResources, withBrowsers } = endpointNames;
  const taken = [...takenByOthers, ...withSessions, ...withResources, ...withBrowsers];
  // A registration may state its own default path, such as /auth/github/callback, but no other path below its own.
  // Its name is empty after a fault.
  const isOwnDefault = wordsOf(reading).some((own) => own !== '' && isSame(path, defaultCallbackPath(own)));
  if (!isOwnDefault) taken.push(...wordsOf(reading));
  return taken.some((name) => name.toLowerCase() === word) ? registrationPath(word) : undefined;
}

/** Says which resource, API or page of a front end a callback path conflicts with; undefined if none. */
function whyPathIsTakenByEntry(path: string, { relay, resources, frontEnds }: Readings): string | undefined {
  const { host } = new URL(relay.baseUrl);
  const conflicts = (other: string | undefined) => other !== undefined && doPathsOverlap(other.toLowerCase(), path);
  const resource = resources.find(({ values }) => {
    const url = URL.parse(values.url ?? '');
    return url?.host === host && conflicts(url.pathname);
  });
  if (resource) return `contains the url of resources.${resource.name}, or is below it`;
  const api = frontEnds.flatMap(({ apis }) => apis).find(({ values }) => conflicts(values.path));
  if (api) return `contains the path ${api.values.path} of proxy, or is below it`;
  const pages = frontEnds.flatMap(({ values }) => [values.frontendUrl?.href ?? '', ...(values.redirectUri ?? [])]);
  const isPage = pages.some((page) => isSame(relay.baseUrl + path, page));
  return isPage ? 'is a page of a front end, where logins end' : undefined;
}

/** Whether two paths or URLs differ at most in case and in a final slash. */
function isSame(path: string, other: string | undefined): boolean {
  const normalize = (text: string) => text.toLowerCase().replace(/\/$/, '');
  return other !== undefined && normalize(path) === normalize(other);
}
