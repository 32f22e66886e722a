/** `HTTPS_PROXY` and `NO_PROXY`. Calls on plain http stay on this machine and need none. */
export type ProxyVariables = Readonly<Record<string, string>>;

/** Reads the variables of the proxy, in either case of their names. */
export function readProxy(
  environment: Readonly<Record<string, string | undefined>>,
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
