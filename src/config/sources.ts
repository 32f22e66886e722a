import { X509Certificate } from 'node:crypto';
import { codeOf, isMissingFile, type ReadFile, whyUnreadable } from '../text-files.ts';
import { isDecodable } from './schemas.ts';
import { splitPassword } from './secret-variables.ts';
import type { Option } from './settings/setting.ts';
import { type OptionName, options } from './settings/settings.ts';

/** Flags and variables as given, unchecked. */
export interface OptionSources {
  readonly flags: Readonly<Partial<Record<OptionName, readonly string[]>>>;
  readonly environment: Readonly<Record<string, string | undefined>>;
}

export interface Given {
  readonly source: 'flag' | 'environment';
  readonly texts: readonly string[];
}

const rows: Readonly<Record<string, Option>> = options;
const excludedBy = (name: string) => rows[name]?.excludes ?? [];

/**
 * Whether a flag excludes an option, so that its variable does not count: with `--issuer`, the variable of a token URL
 * does not. Flags on both sides are a fault instead.
 */
function isOverruled(name: OptionName, flags: Readonly<Record<string, unknown>>): boolean {
  const isGiven = (one: string) => flags[one] !== undefined;
  const otherSide = excludedBy(name);
  const ownSide = otherSide.flatMap(excludedBy);
  return otherSide.some(isGiven) && !ownSide.some(isGiven);
}

/** The value of an option besides the file: its flag, else its variable. An empty variable counts as unset. */
export function givenBySources(name: OptionName, sources: OptionSources): Given | undefined {
  const { flags, environment } = sources;
  const texts = flags[name];
  if (texts !== undefined) return { source: 'flag', texts };
  const text = isOverruled(name, flags) ? undefined : environment[options[name].variable];
  if (!text) return undefined;
  // The address is shown, so its password is read separately.
  const { address = text } = (name === 'sharedMemory' && splitPassword(text)) || {};
  return { source: 'environment', texts: [address] };
}

const packagedFile = '/etc/login-relay/config.yaml';

/**
 * The sources for commands that examine a configuration: without any option, the file of the packaged service.
 *
 * @returns `why`: an explanation if it is that file
 */
export function findSources(
  given: OptionSources,
  readFile: ReadFile,
): { readonly sources: OptionSources; readonly why?: string } {
  if (!isEmpty(given) || isMissingFile(packagedFile, readFile)) return { sources: given };
  const sources: OptionSources = { ...given, flags: { config: [packagedFile] } };
  return { sources, why: `${packagedFile} is read, since no option is given` };
}

/**
 * Whether no option is given. An empty variable counts as not set, except the one for the file: it says that there is
 * none.
 */
function isEmpty({ flags, environment }: OptionSources): boolean {
  const { config, ...others } = options;
  if (environment[config.variable] !== undefined || Object.keys(flags).length > 0) return false;
  return Object.values(others).every(({ variable }) => !environment[variable]);
}

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
