import { codeOf, type ReadFile, whyUnreadable } from '../text-files.ts';
import { parseCertificate } from './certificate.ts';
import type { OptionSources } from './option-sources.ts';
import { isDecodable } from './schemas.ts';

/** Values of variables that Node.js itself reads, with which it would reveal secrets. */
const forbiddenValues: readonly [name: string, value: RegExp, why: string][] = [
  ['NODE_TLS_REJECT_UNAUTHORIZED', /^0$/, 'must not be 0: anyone could pose as the provider'],
  ['NODE_DEBUG', /./s, 'must not be set: Node would write requests with their secrets'],
  ['NODE_OPTIONS', /--(inspect|debug[-_]port)/, 'must not contain --inspect: a debugger can read every secret'],
];

/**
 * Reads the proxy settings, and reports variables of Node.js with which it would reveal secrets or fail.
 *
 * @param given.unseen present if the relay may read files that this command cannot
 * @returns `HTTPS_PROXY` and `NO_PROXY`, in either case of their names. There is no `HTTP_PROXY`, because calls over
 *   plain http stay on this machine
 */
export function readEnvironment(
  given: Pick<OptionSources, 'environment'> & { readonly readFile: ReadFile; readonly unseen?: readonly unknown[] },
  reportFault: (message: string) => void,
) {
  const { environment, readFile, unseen } = given;
  const proxy: Record<string, string> = {};
  for (const name of ['HTTPS_PROXY', 'NO_PROXY']) {
    const value = environment[name] || environment[name.toLowerCase()];
    if (value) proxy[name] = value;
  }
  if (proxy['HTTPS_PROXY'] && !isProxyUrl(proxy['HTTPS_PROXY'])) {
    reportFault('HTTPS_PROXY must be the URL of a proxy: http:// or https://, user and password percent-encoded');
  }
  for (const [name, value, why] of forbiddenValues) {
    if (value.test(environment[name] ?? '')) reportFault(`${name} ${why}`);
  }
  const authorities = environment['NODE_EXTRA_CA_CERTS'];
  const whyUnusable = authorities && whyAuthoritiesUnusable(authorities, readFile, unseen !== undefined);
  if (whyUnusable) reportFault(`NODE_EXTRA_CA_CERTS ${whyUnusable}`);
  return proxy;
}

/**
 * Says why Node.js cannot use a file of certificate authorities; undefined if it can. Node.js would silently ignore the
 * file, so that every call to the provider fails.
 *
 * @param mayBeUnseen whether the relay may be able to read what this user cannot
 */
function whyAuthoritiesUnusable(path: string, readFile: ReadFile, mayBeUnseen: boolean): string | undefined {
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
  const areValid = certificates.every((certificate) => parseCertificate(certificate) !== undefined);
  return areValid ? undefined : 'names a file with a certificate that cannot be read';
}

function isProxyUrl(value: string): boolean {
  const url = URL.parse(value);
  return !!url && /^https?:$/.test(url.protocol) && isDecodable(url.username + url.password);
}
