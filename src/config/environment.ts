import { X509Certificate } from 'node:crypto';
import { codeOf, type ReadFile, whyUnreadable } from '../text-files.ts';
import { isDecodable } from './schemas.ts';
import type { OptionSources } from './sources.ts';

/** Variables that Node.js itself reads, and that would reveal secrets. */
const forbidden: readonly [name: string, value: RegExp, why: string][] = [
  ['NODE_TLS_REJECT_UNAUTHORIZED', /^0$/, 'must not be 0: anyone could pose as the provider'],
  ['NODE_DEBUG', /./s, 'must not be set: Node would write requests with their secrets'],
  ['NODE_OPTIONS', /--(inspect|debug[-_]port)/, 'must not contain --inspect: a debugger can read every secret'],
];

/**
 * Reads the variables that are not options.
 *
 * @returns `HTTPS_PROXY` and `NO_PROXY`, in either case of their names. Calls over plain http stay on this machine, so
 *   they need no proxy
 */
export function readEnvironment(
  given: Pick<OptionSources, 'environment'> & { readonly readFile: ReadFile; readonly unseen?: readonly unknown[] },
  fault: (message: string) => void,
) {
  const { environment, readFile, unseen } = given;
  const proxy: Record<string, string> = {};
  for (const name of ['HTTPS_PROXY', 'NO_PROXY']) {
    const value = environment[name] || environment[name.toLowerCase()];
    if (value) proxy[name] = value;
  }
  if (proxy['HTTPS_PROXY'] && !isProxyUrl(proxy['HTTPS_PROXY'])) {
    fault('HTTPS_PROXY must be the URL of a proxy: http:// or https://, user and password percent-encoded');
  }
  for (const [name, value, why] of forbidden) {
    if (value.test(environment[name] ?? '')) fault(`${name} ${why}`);
  }
  const authorities = environment['NODE_EXTRA_CA_CERTS'];
  const unusable = authorities && whyNoAuthorities(authorities, readFile, unseen !== undefined);
  if (unusable) fault(`NODE_EXTRA_CA_CERTS ${unusable}`);
  return proxy;
}

/**
 * Why Node.js cannot use a file of certificate authorities. It would silently ignore the file, and every call would
 * fail.
 *
 * @param mayBeUnseen whether the relay may be able to read what this user cannot
 */
function whyNoAuthorities(path: string, readFile: ReadFile, mayBeUnseen: boolean): string | undefined {
  let text: string;
  try {
    text = readFile(path).text;
  } catch (error) {
    return mayBeUnseen && codeOf(error) === 'EACCES' ? undefined : whyUnreadable(error);
  }
  const certificates = text.match(/-----BEGIN (?:X509 |TRUSTED )?CERTIFICATE-----.*?-----END [^-]+-----/gs);
  if (certificates === null) {
    return 'names a file without a certificate as PEM (-----BEGIN CERTIFICATE-----): convert one of another form with openssl x509 -inform der';
  }
  const isWrong = certificates.some(
    (certificate) => unlessThrown(() => new X509Certificate(certificate)) === undefined,
  );
  return isWrong ? 'names a file with a certificate that cannot be read' : undefined;
}

function unlessThrown<Value>(make: () => Value): Value | undefined {
  try {
    return make();
  } catch {
    return undefined;
  }
}

function isProxyUrl(value: string): boolean {
  const url = URL.parse(value);
  return !!url && /^https?:$/.test(url.protocol) && isDecodable(url.username + url.password);
}
