import type { LoginConfig } from '../config/login-config.ts';
import type { Naming } from '../config/reading.ts';
import { exampleOf } from '../origins/origin-pattern.ts';
import type { Provider } from '../providers/provider.ts';
import { isLoopback } from '../urls.ts';
import { type Finding, ok, warning } from './finding.ts';

const subject = 'addresses';

/** Checks whether browsers on other machines can use the addresses, and whether anyone can listen in. */
export function checkAddresses(
  { redirectUri, origin }: LoginConfig,
  provider: Provider | undefined,
  { describe }: Naming,
): Finding[] {
  const relay = new URL(redirectUri);
  const frontEnd = new URL(exampleOf(origin));
  const { authorizeUrl, tokenUrl, userUrl } = provider ?? {};
  const endpoints = [authorizeUrl, tokenUrl, userUrl].flatMap((url) => url ?? []);
  const doubts: readonly (readonly [applies: boolean, message: string, fix: string])[] = [
    [
      isLoopback(relay) && !isLoopback(frontEnd),
      'the base URL works only on this machine, but the front end is elsewhere',
      `set ${describe('baseUrl')} to the address by which browsers reach the relay`,
    ],
    [
      isExposed(relay),
      'the base URL is on plain http: codes and tokens can be read in transit',
      `put TLS in front of the relay, and set ${describe('baseUrl')} to https://…`,
    ],
    [
      isExposed(frontEnd),
      'the front end is on plain http: the token can be read in transit',
      `serve it over https, and set ${describe('origin')} to https://…`,
    ],
    [
      endpoints.some((url) => isExposed(new URL(url))),
      'the provider is called on plain http: the client secret and tokens can be read in transit',
      'use the provider’s https:// addresses',
    ],
  ];
  const findings = doubts.flatMap(([applies, message, fix]) =>
    applies ? [warning(subject, message, fix)] : [],
  );
  return findings.length > 0 ? findings : [ok(subject, 'base URL and origin fit together')];
}

function isExposed(url: URL): boolean {
  return url.protocol === 'http:' && !isLoopback(url);
}
