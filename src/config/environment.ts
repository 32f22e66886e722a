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
  try {
    decodeURIComponent(url.username + url.password);
    return true;
  } catch {
    return false;
  }
}

const inspector = /--(inspect|debug[-_]port)/;

/** The faults of variables that Node itself reads. Each is one line that names the variable. */
export function runtimeFaults({
  NODE_TLS_REJECT_UNAUTHORIZED: checks,
  NODE_DEBUG: debug,
  NODE_OPTIONS: options = '',
}: OptionSources['environment']): string[] {
  const faults: string[] = [];
  if (checks === '0') {
    faults.push('NODE_TLS_REJECT_UNAUTHORIZED must not be 0: anyone could pose as the provider');
  }
  if (debug) {
    faults.push('NODE_DEBUG must not be set: Node would write requests with their secrets');
  }
  if (inspector.test(options)) {
    faults.push('NODE_OPTIONS must not contain --inspect: a debugger can read every secret');
  }
  return faults;
}
