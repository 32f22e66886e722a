import type { Config } from '../config/config.ts';
import { describeOption } from '../config/options.ts';
import type { Provider } from '../providers/provider.ts';
import { isLoopback } from '../urls.ts';
import { type Finding, ok, warning } from './finding.ts';

const subject = 'addresses';

/** Checks whether browsers on other machines can use the addresses, and safely. */
export function checkAddresses({ redirectUri, origin }: Config): Finding[] {
  const findings: Finding[] = [];
  const relay = new URL(redirectUri);
  const frontEnd = new URL(origin);
  if (isLoopback(relay) && !isLoopback(frontEnd)) {
    findings.push(
      warning(
        subject,
        'the base URL is this machine’s own, but the front end is elsewhere',
        `set ${describeOption('baseUrl')} to the address by which browsers reach the relay`,
      ),
    );
  }
  if (isExposed(relay)) {
    findings.push(
      warning(
        subject,
        'the base URL is on plain http: codes and tokens can be read on the way',
        `put TLS in front of the relay, and set ${describeOption('baseUrl')} to https://…`,
      ),
    );
  }
  if (isExposed(frontEnd)) {
    findings.push(
      warning(
        subject,
        'the front end is on plain http: the token can be read on the way to it',
        `serve it by https, and set ${describeOption('origin')} to https://…`,
      ),
    );
  }
  return findings.length > 0 ? findings : [ok(subject, 'base URL and origin fit together')];
}

/** Checks whether others can read on the way what is sent to the provider. */
export function checkProviderAddresses({ authorizeUrl, tokenUrl, userUrl }: Provider): Finding[] {
  const urls = [authorizeUrl, tokenUrl, userUrl].map((url) => new URL(url));
  if (!urls.some(isExposed)) return [];
  return [
    warning(
      subject,
      'the provider is called on plain http: the client secret and tokens can be read on the way',
      'use the provider’s https:// addresses',
    ),
  ];
}

function isExposed(url: URL): boolean {
  return url.protocol === 'http:' && !isLoopback(url);
}
