import {
  defaultCallbackPath,
  endpointNames,
  namesInPath,
  overlap,
  ownPaths,
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

/** What a callback path conflicts with; undefined if nothing. */
function whyPathIsTaken(path: string, reading: RegistrationReading, readings: Readings): string | undefined {
  const others = readings.registrations.filter((one) => one !== reading);
  const taken = findOwnPath(path, reading, others, readings);
  if (taken) return `contains a path of the relay, or is below one: ${taken}`;
  // If two providers shared a path, either could send the other's code to the relay (mix-up attack). RFC 9700 §4.4.2
  const other = others.find(({ values }) => isSame(path, values.callbackPath));
  if (other)
    return `is that of providers.${other.name}, too: register another callback URL at one of the two providers`;
  return whyPathIsTakenByEntry(path, readings);
}

/** The relay's own path that contains a callback path, or is inside it; undefined if there is none. */
function findOwnPath(
  path: string,
  { name, values }: RegistrationReading,
  others: readonly RegistrationReading[],
  { relay }: Readings,
): string | undefined {
  const { pathname: base } = new URL(relay.baseUrl);
  const fixed = ownPaths.filter((one) => one !== paths.cmsLogin);
  const found = [...fixed, ...(base === '/' ? [] : [base])].find((one) => overlap(one.toLowerCase(), path));
  if (found || isSame(path, paths.cmsLogin)) return found ?? paths.cmsLogin;
  // An entry may state its own default.
  const isOwn = [name, values.provider].some((word) => word && isSame(path, defaultCallbackPath(word)));
  const words = [...others, ...(isOwn ? [] : [{ name, values }])].flatMap((one) => [
    one.name,
    one.values.provider ?? one.name,
  ]);
  const { registration: first = '' } = namesInPath(path);
  const isTaken = [...words, ...endpointNames.withSessions, ...endpointNames.withResources].some(
    (word) => word.toLowerCase() === first,
  );
  return isTaken ? registrationPath(first) : undefined;
}

/** What a callback path conflicts with besides endpoints; undefined if nothing. */
function whyPathIsTakenByEntry(path: string, { relay, resources, frontEnds }: Readings): string | undefined {
  const { host } = new URL(relay.baseUrl);
  const meets = (other: string | undefined) => other !== undefined && overlap(other.toLowerCase(), path);
  const resource = resources.find(({ values }) => {
    const url = URL.parse(values.url ?? '');
    return url?.host === host && meets(url.pathname);
  });
  if (resource) return `contains the url of resources.${resource.name}, or is below it`;
  const api = frontEnds.flatMap(({ apis }) => apis).find(({ values }) => meets(values.path));
  if (api) return `contains the path ${api.values.path} of proxy, or is below it`;
  const pages = frontEnds.flatMap(({ values }) => [values.frontendUrl?.href ?? '', ...(values.redirectUri ?? [])]);
  const isPage = pages.some((page) => isSame(relay.baseUrl + path, page));
  return isPage ? 'is a page of a front end, where logins end' : undefined;
}

function isSame(one: string, other: string | undefined): boolean {
  const bare = (text: string) => text.toLowerCase().replace(/\/$/, '');
  return other !== undefined && bare(one) === bare(other);
}
