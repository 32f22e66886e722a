import { BlockList } from 'node:net';
import ipaddr from 'ipaddr.js';
import * as v from 'valibot';

/** Whether a URL points to this machine. @see RFC 6761 §6.3 for localhost */
export function isLoopback({ hostname }: URL): boolean {
  return /^(localhost|.+\.localhost|127(\.\d+){3}|\[::1\])$/.test(hostname);
}

/** A host as a URL has it: an IPv6 address in brackets. */
export const hostInUrl = (host: string): string => (host.includes(':') ? `[${host}]` : host);

/** Whether a URL might reach this machine, in any spelling. Use it to refuse URLs, and `isLoopback` to allow them. */
export function mayBeThisMachine({ hostname }: URL): boolean {
  const host = hostname.replace(/^\[|\]$/g, '').replace(/\.$/, '');
  if (!ipaddr.isValid(host)) return /^(.+\.)?localhost$/.test(host);
  const range = ipaddr.process(host).range();
  // The unspecified address (0.0.0.0) reaches this machine as well.
  return range === 'loopback' || range === 'unspecified';
}

/** Whether a URL is https. The text of a resource's URL is as the file has it, and a scheme may be in upper case. */
export const isHttps = (url: string): boolean => /^https:/i.test(url);

// Messages complete the sentence "--flag (VARIABLE) …" and never quote the value, which may be secret.

/** An http or https URL without user name, password or fragment. */
export const httpUrl = v.pipe(
  v.string(),
  // URL parsers repair malformed input, which may then mean something that its author did not intend.
  v.regex(/^[\x21\x23-\x3b\x3d\x3f-\x5b\x5d\x5f\x61-\x7a\x7e]+$/, 'must be a URL of ASCII characters, without spaces'),
  v.regex(/^https?:\/\/[^/]/i, 'must be a URL that starts with https:// (or http://)'),
  // The user name is looked for before the text is parsed, because the parser drops an empty user name.
  v.regex(/^[^/]*\/\/[^/?@]*([/?]|$)/, 'must not hold a user name or password'),
  v.check((text) => URL.canParse(text), 'must be a valid URL'),
  v.check(isHostSpeltPlainly, 'must name its host plainly: no percent-encoding, four numbers in an IPv4'),
  v.transform((text) => new URL(text)),
  v.check((url) => !url.href.includes('#'), 'must not have a fragment (#…)'),
);

/** An `httpUrl` with exactly one host, without `*`. */
export const plainUrl = v.pipe(
  httpUrl,
  v.check((url) => !/[,*]/.test(url.hostname), 'must name one host, with no comma and no * in it'),
);

/** Whether a URL has its host as the parser returns it. An IPv6 address may have any spelling. */
function isHostSpeltPlainly(text: string): boolean {
  const [, spelling] = /^[^/]*\/\/(\[.*\]|[^/?:]*)/.exec(text) ?? [];
  const hostname = URL.parse(text)?.hostname;
  return hostname?.startsWith('[') || spelling?.toLowerCase() === hostname;
}

/** Says which parameter in the query of a URL the relay adds itself; undefined if there is none. */
export function whyQueryIsTaken(url: URL | undefined, parameters: readonly string[]): string | undefined {
  const taken = parameters.find((parameter) => url?.searchParams.has(parameter));
  return taken && `must not have ${taken} in its query: the relay adds it`;
}

const linkLocal = new BlockList();
linkLocal.addSubnet('169.254.0.0', 16);
linkLocal.addSubnet('fe80::', 10, 'ipv6');
// IPv4-compatible and NAT64 spellings. @see RFC 4291 §2.5.5, RFC 6052 §2.1
linkLocal.addSubnet('::169.254.0.0', 112, 'ipv6');
linkLocal.addSubnet('64:ff9b::169.254.0.0', 112, 'ipv6');
// Further metadata addresses of Amazon, Google and Alibaba.
linkLocal.addAddress('fd00:ec2::254', 'ipv6');
linkLocal.addAddress('fd20:ce::254', 'ipv6');
linkLocal.addAddress('100.100.100.200');
const metadataHost = /^metadata\.google\.internal\.?$/;

/** Whether a URL leads to a link-local address or a cloud's metadata service, which gives away the machine's credentials. */
function isLinkLocal({ hostname }: URL): boolean {
  if (metadataHost.test(hostname)) return true;
  return hostname.startsWith('[') ? linkLocal.check(hostname.slice(1, -1), 'ipv6') : linkLocal.check(hostname);
}

/** The URL of a provider's endpoint, which cannot be a cloud's metadata service (server-side request forgery). */
export const providerUrl = v.pipe(
  plainUrl,
  v.check((url) => !isLinkLocal(url), 'must not point to a link-local or metadata address'),
);

/**
 * Parses a client identifier that is the URL of a metadata document; undefined if it cannot be such a URL.
 *
 * @see draft-ietf-oauth-client-id-metadata-document-02 §3
 */
export function parseDocumentUrl(id: string): URL | undefined {
  const url = URL.parse(id);
  // Another spelling of the URL would be another identifier: with dot segments, upper case, or an empty user name.
  const isExact = url?.href === id && url.protocol === 'https:' && !id.includes('#');
  const hasUser = `${url?.username}${url?.password}` !== '';
  return isExact && !hasUser && url.pathname !== '/' ? url : undefined;
}
