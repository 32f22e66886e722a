import { isDecodable } from './schemas.ts';
import type { OptionSources } from './sources.ts';

/** `HTTPS_PROXY` and `NO_PROXY`. Calls on plain http stay on this machine and need none. */
export type ProxyVariables = Readonly<Record<string, string>>;

/** Reads the variables of the proxy, in either case of their names. */
export function readProxy(
  environment: OptionSources['environment'],
  fault: (message: string) => void,
): ProxyVariables {
  const proxy: Record<string, string> = {};
  for (const name of ['HTTPS_PROXY', 'NO_PROXY']) {
    const value = environment[name] || environment[name.toLowerCase()];
    if (!value) continue;
    if (name === 'NO_PROXY' || isProxyUrl(value)) {
      proxy[name] = value;
    } else {
      fault(
        `${name} must be the URL of a proxy: http:// or https://, user and password percent-encoded`,
      );
    }
  }
  return Object.freeze(proxy);
}

function isProxyUrl(value: string): boolean {
  const url = URL.parse(value);
  if (url === null || !/^https?:$/.test(url.protocol)) return false;
  return isDecodable(url.username + url.password);
}

/** Variables that Node itself reads, and that would give secrets away. */
const forbidden: readonly [name: string, value: RegExp, why: string][] = [
  ['NODE_TLS_REJECT_UNAUTHORIZED', /^0$/, 'must not be 0: anyone could pose as the provider'],
  ['NODE_DEBUG', /./s, 'must not be set: Node would write requests with their secrets'],
  [
    'NODE_OPTIONS',
    /--(inspect|debug[-_]port)/,
    'must not contain --inspect: a debugger can read every secret',
  ],
];

/** The faults of variables that Node itself reads. Each is one line that names the variable. */
export function runtimeFaults(environment: OptionSources['environment']): string[] {
  return forbidden.flatMap(([name, value, why]) =>
    value.test(environment[name] ?? '') ? [`${name} ${why}`] : [],
  );
}
