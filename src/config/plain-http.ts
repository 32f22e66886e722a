import { exampleOf } from '../origins/origin-pattern.ts';
import { isLoopback } from '../urls.ts';
import type { Reading } from './reading.ts';

/** Reports http:// addresses beyond this machine, unless they are allowed. */
export function reportPlainHttp({ values, describe, fault }: Reading): void {
  if (values.insecureHttp !== false) return;
  const addresses = {
    baseUrl: values.baseUrl,
    origin: values.origin === undefined ? undefined : new URL(exampleOf(values.origin)),
    authorizeUrl: values.authorizeUrl,
    tokenUrl: values.tokenUrl,
    userUrl: values.userUrl,
    revocationUrl: values.revocationUrl,
    issuer: values.issuer === undefined ? undefined : new URL(values.issuer),
  };
  for (const name of Object.keys(addresses) as (keyof typeof addresses)[]) {
    const url = addresses[name];
    if (url?.protocol === 'http:' && !isLoopback(url)) {
      fault(
        name,
        `must start with https://. http:// is only for this machine, unless ${describe('insecureHttp')} allows it`,
      );
    }
  }
}
