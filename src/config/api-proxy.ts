import * as v from 'valibot';
import { isLoopback } from '../urls.ts';
import type { FileApi } from './file/config-file.ts';
import type { FrontEndAccess } from './front-end-access.ts';
import type { Reading } from './reading.ts';
import { type apiMethods, overlap } from './schemas-api.ts';
import { fileOnly } from './settings/settings.ts';
import { didYouMean, suggestion } from './suggestion.ts';

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

type ApiMethod = v.InferOutput<typeof apiMethods>[number];

const settings = fileOnly.proxy;
type Setting = keyof typeof settings;

const byDefault: ApiMethod[] = ['GET', 'HEAD'];

/** Reads `proxy` of a front end. What has faults is left out. */
export function readApis(
  { entry, values, describe, faultAt }: Reading,
  { registrations }: FrontEndAccess,
): readonly ApiConfig[] {
  const apis = entry?.apis ?? [];
  const [first] = apis;
  if (first !== undefined && values.tokenDelivery !== 'session') {
    faultAt(first.position, 'proxy', `needs ${describe('tokenDelivery')} session`);
  }
  return apis.flatMap((api) => {
    const fault = (setting: Setting, message: string) =>
      faultAt(api.positions[setting] ?? api.position, `proxy.${setting}`, message);
    const path = read(api, 'path', fault);
    const url = read(api, 'url', fault);
    const methods = read(api, 'methods', fault, byDefault);
    const requestHeaders = read(api, 'request-headers', fault, []);
    const registration = registrationOf(api, registrations, fault);
    if (url?.protocol === 'http:' && !isLoopback(url) && values.insecureHttp === false) {
      fault(
        'url',
        `must start with https://. http:// is only for this machine, unless ${describe('insecureHttp')} allows it`,
      );
    }
    const isComplete = path !== undefined && url !== undefined && methods !== undefined;
    return isComplete && requestHeaders !== undefined && registration !== undefined
      ? [{ path, url: url.href, methods, requestHeaders, registration }]
      : [];
  });
}

/** @returns undefined after reporting a fault */
function read<Name extends Setting>(
  api: FileApi,
  name: Name,
  fault: (setting: Setting, message: string) => void,
  otherwise?: v.InferOutput<(typeof settings)[Name]['schema']>,
): v.InferOutput<(typeof settings)[Name]['schema']> | undefined {
  const given = api.values[name];
  if (given === undefined) {
    if (otherwise === undefined) fault(name, 'is required');
    return otherwise;
  }
  // It has a fault of its form.
  if (given.length === 0) return undefined;
  const { schema } = settings[name];
  const result = v.safeParse(schema, given.join(' '), { abortPipeEarly: true });
  if (result.success) return result.output;
  fault(name, result.issues[0].message);
  return undefined;
}

function registrationOf(
  api: FileApi,
  registrations: readonly string[],
  fault: (setting: Setting, message: string) => void,
): string | undefined {
  const [only] = registrations;
  if (api.values.provider === undefined) {
    if (registrations.length === 1) return only;
    fault('provider', 'is required, because the front end may use several providers');
    return undefined;
  }
  const name = read(api, 'provider', fault);
  if (name === undefined || registrations.includes(name)) return name;
  const close = suggestion(name, registrations);
  fault('provider', `names a provider that the front end may not use${didYouMean(close)}`);
  return undefined;
}

/** Reports paths of which one is below another, at any front end: a request must belong to one alone. */
export function reportApiPaths(
  frontEnds: readonly { readonly one: Reading; readonly apis: readonly ApiConfig[] }[],
): void {
  const earlier: string[] = [];
  for (const { one, apis } of frontEnds) {
    for (const { path } of apis) {
      const position = one.entry?.apis.find(({ values }) => values.path?.[0] === path)?.position;
      if (position !== undefined && earlier.some((other) => overlap(other, path))) {
        one.faultAt(
          position,
          'proxy.path',
          'is the same as another path, or one is below the other',
        );
      }
      earlier.push(path);
    }
  }
}
