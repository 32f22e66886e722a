import * as v from 'valibot';
import { httpUrl } from '../urls.ts';
import type { OriginPattern } from './origin-pattern.ts';
import { ownsItsNames } from './own-domain.ts';
import type { RedirectUri } from './redirect-uri.ts';

// Messages complete the sentence "--flag (VARIABLE) …" and never quote the value.

/** Any port of this machine. */
const anyPort = /^(http:\/\/(?:localhost|127\.0\.0\.1|\[::1\])):\*(?=[/?]|$)/i;
/** No `*` in scheme, host and port, or one as the first label of the host. */
const noStarOrFirstLabel = /^[^/]*\/\/(\*\.)?[^/?#*]*([/?#]|$)/;
/** A host name without a dot at its end. @see RFC 1034 §3.5 */
const hostName = /^[a-z0-9]([a-z0-9-]*[a-z0-9])?(\.[a-z0-9]([a-z0-9-]*[a-z0-9])?)*$/;

/** A page of a front end, and where the `*` of its origin is: an http or https URL as `httpUrl` takes it. */
export const redirectUri = v.pipe(
  v.string(),
  v.transform((text) => ({ text: text.replace(anyPort, '$1'), isAnyPort: anyPort.test(text) })),
  v.check(
    ({ text }) => !text.includes('*') || noStarOrFirstLabel.test(text),
    'must have * as the whole first label of the host name (https://*.preview.example.com) or as the port of this machine (http://localhost:*), and nowhere else in its origin',
  ),
  v.rawTransform(({ dataset, addIssue, NEVER }): RedirectUri => {
    const { text, isAnyPort } = dataset.value;
    const parsed = v.safeParse(httpUrl, text, { abortPipeEarly: true });
    if (!parsed.success) {
      addIssue({ message: parsed.issues[0].message });
      return NEVER;
    }
    const { origin, href, protocol, hostname } = parsed.output;
    const path = href.slice(origin.length);
    if (isAnyPort) return { origin: { before: origin, star: 'port', after: '' }, path };
    if (!hostname.startsWith('*.')) {
      return { origin: { before: origin, star: 'nothing', after: '' }, path };
    }
    const fault = starFault(protocol, hostname.slice('*.'.length));
    if (fault !== undefined) {
      addIssue({ message: fault });
      return NEVER;
    }
    const before = 'https://';
    return { origin: { before, star: 'label', after: origin.slice(before.length + 1) }, path };
  }),
);

/** What is wrong with a `*` below a domain; undefined: nothing. */
function starFault(protocol: string, domain: string): string | undefined {
  if (protocol !== 'https:') return 'must start with https:// if its host name has a *';
  if (!hostName.test(domain))
    return 'must have a * only below a host name, without a dot at its end';
  if (ownsItsNames(domain)) return undefined;
  return 'must not have a * directly under a public suffix, such as co.uk, github.io or vercel.app: anybody can have a name there. Use a domain of your own';
}

/** An origin as browsers send it, or a pattern with one `*`: scheme, host and port, nothing after. @see RFC 6454 §6.2 */
export const originPattern = v.pipe(
  redirectUri,
  v.check(
    ({ path }) => path === '/',
    'must be an origin such as https://app.example.com: scheme, host and port, without a path',
  ),
  v.transform(({ origin }): OriginPattern => origin),
);
