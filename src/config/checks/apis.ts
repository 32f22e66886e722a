import { didYouMean, suggestion } from '../fault.ts';
import type { Reading } from '../reading.ts';
import { type FrontEndReading, valuesAt } from '../readings.ts';
import { overlap } from '../settings/apis.ts';

/** A part of a provider's API that a page may use through the relay: an entry of `proxy` without faults. */
export function apiConfig(reading: Reading, registrations: readonly string[]) {
  const { path, url, methods, requestHeaders, apiProvider } = valuesAt('proxy', reading);
  return {
    /** The path of the relay; it begins and ends with a slash. No other one contains it. */
    path,
    /** The URL that takes its place; it ends with a slash. */
    url: url.href,
    methods: methods ?? (['GET', 'HEAD'] as const),
    /** Further request headers that reach the API, in lower case. */
    requestHeaders: requestHeaders ?? [],
    /** The name of the registration whose access tokens the API takes. */
    registration: apiProvider ?? registrations[0] ?? '',
  };
}

/** Checks `proxy` of all front ends. */
export function checkApis(frontEnds: readonly FrontEndReading[]): void {
  const earlier: string[] = [];
  for (const { apis, registrations, values, describe } of frontEnds) {
    if (values.tokenDelivery !== 'session') {
      apis[0]?.faultOfEntry(`needs ${describe('tokenDelivery')} session`);
    }
    for (const api of apis) {
      api.require('path', 'url');
      reportRegistration(api, registrations);
      const { path } = api.values;
      if (path === undefined) continue;
      // A request must belong to one alone.
      if (earlier.some((other) => overlap(other, path))) {
        api.fault('path', 'is the same as another path, or one is below the other');
      }
      earlier.push(path);
    }
  }
}

function reportRegistration(
  { values: { apiProvider: name }, sourceOf, fault }: Reading,
  registrations: readonly string[],
): void {
  if (sourceOf('apiProvider') === undefined && registrations.length > 1) {
    fault('apiProvider', 'is required, because the front end may use several providers');
  }
  if (name === undefined || registrations.includes(name)) return;
  const close = suggestion(name, registrations);
  fault('apiProvider', `names a provider that the front end may not use${didYouMean(close)}`);
}
