import { didYouMean, suggestion } from '../fault.ts';
import type { FrontEndReading, Reading } from '../reading.ts';
import { overlap } from '../settings/apis.ts';
import type { CompleteValues } from '../settings/settings.ts';
import type { FrontEndAccess } from './front-end.ts';

/** A part of a provider's API that a page may use through the relay. */
export interface ApiConfig {
  /** The path of the relay; it begins and ends with a slash. No other one contains it. */
  readonly path: string;
  /** The URL that takes its place; it ends with a slash. */
  readonly url: string;
  readonly methods: readonly ApiMethod[];
  /** Further request headers that reach the API, in lower case. */
  readonly requestHeaders: readonly string[];
  /** The name of the registration whose access tokens the API takes. */
  readonly registration: string;
}

type ApiMethod = NonNullable<CompleteValues['methods']>[number];

const defaultMethods: readonly ApiMethod[] = ['GET', 'HEAD'];

/** An entry of `proxy` without faults. */
interface ReadApi {
  readonly reading: Reading;
  readonly api: ApiConfig;
}

/** Reads `proxy` of a front end. What has faults is left out. */
export function readApis(
  { apis, values: { tokenDelivery }, describe }: FrontEndReading,
  { registrations }: FrontEndAccess,
): readonly ReadApi[] {
  if (tokenDelivery !== 'session') {
    apis[0]?.faultOfEntry(`needs ${describe('tokenDelivery')} session`);
  }
  return apis.flatMap((reading) => {
    const { values, sourceOf, fault } = reading;
    for (const name of ['path', 'url'] as const) {
      if (sourceOf(name) === undefined) fault(name, 'is required');
    }
    const { path, url } = values;
    const { methods = sourceOf('methods') ? undefined : defaultMethods } = values;
    const { requestHeaders = sourceOf('requestHeaders') ? undefined : [] } = values;
    const registration = registrationOf(reading, registrations);
    return path && url && methods && requestHeaders && registration
      ? [{ reading, api: { path, url: url.href, methods, requestHeaders, registration } }]
      : [];
  });
}

function registrationOf(
  { values: { apiProvider: name }, sourceOf, fault }: Reading,
  registrations: readonly string[],
): string | undefined {
  if (sourceOf('apiProvider') === undefined) {
    if (registrations.length === 1) return registrations[0];
    return fault('apiProvider', 'is required, because the front end may use several providers');
  }
  if (name === undefined || registrations.includes(name)) return name;
  const close = suggestion(name, registrations);
  return fault(
    'apiProvider',
    `names a provider that the front end may not use${didYouMean(close)}`,
  );
}

/** Reports paths of which one is below another, at any front end: a request must belong to one alone. */
export function reportApiPaths(apis: readonly ReadApi[]): void {
  const earlier: string[] = [];
  for (const { reading, api } of apis) {
    if (earlier.some((other) => overlap(other, api.path))) {
      reading.fault('path', 'is the same as another path, or one is below the other');
    }
    earlier.push(api.path);
  }
}
