import { canary } from '../../../harness/expect/canaries.ts';
import { libraryExample } from '../../../harness/project/shipped-pages.ts';
import {
  type CertifiedProvider,
  startCertifiedProvider,
} from '../../../harness/provider/certified-provider.ts';
import { startHttpsProxy } from '../../../harness/provider/https-proxy.ts';
import { serveTls } from '../../../harness/provider/serve.ts';
import { type Relay, secretFile, useRelays } from '../../../harness/relay/relay-under-test.ts';
import { selfSignedCertificate } from '../../../harness/system/certificate.ts';
import { freePort } from '../../../harness/system/free-port.ts';
import { sendFrom } from './library-site.ts';

/** The page of examples/oauth4webapi at any address, and a relay whose front end is its previews. */
export interface PreviewSite {
  readonly relay: Relay;
  readonly relayUrl: string;
  readonly provider: CertifiedProvider;
  /** The port of this machine that has the page, whatever host it is asked for. */
  readonly pagePort: number;
}

/**
 * One site for the `describe` that this is called in.
 *
 * @param origin the pattern of the previews
 */
export function usePreviewSite(origin: string): () => PreviewSite {
  const startRelay = useRelays();
  let site: PreviewSite | undefined;
  const servings: { close(): Promise<void> }[] = [];

  before('start the provider, the relay and the page', async () => {
    const port = await freePort();
    const proxy = await startHttpsProxy('relay.localhost', port);
    const redirectUri = `${proxy.url}/auth/provider/callback`;
    const client = { clientId: 'client-1', clientSecret: canary('secret'), redirectUri };
    const provider = await startCertifiedProvider({ client, refreshes: true });
    const certificate = await selfSignedCertificate('previews');
    const page = await serveTls(certificate, sendFrom(libraryExample(proxy.url)));
    servings.push(proxy, provider, page);
    const relay = await startRelay({
      client,
      flags: {
        port: `${port}`,
        origin,
        'token-delivery': 'code',
        'refresh-tokens': 'bearer',
        'base-url': proxy.url,
        issuer: provider.issuer,
        // This provider gives refresh tokens only to logins with its consent page.
        'authorize-params': 'prompt=consent',
        'key-file': await secretFile('the-key-of-these-tests-and-no-others'),
      },
    });
    site = { relay, relayUrl: proxy.url, provider, pagePort: page.port };
  });
  after('stop them', async () => {
    await Promise.all(servings.map((serving) => serving.close()));
  });

  return () => {
    if (site === undefined) throw new Error('the site has not started');
    return site;
  };
}
