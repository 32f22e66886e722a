import type { RequestListener } from 'node:http';
import { canary } from '../../../harness/expect/canaries.ts';
import { libraryExample } from '../../../harness/project/shipped-pages.ts';
import {
  type CertifiedProvider,
  startCertifiedProvider,
} from '../../../harness/provider/certified-provider.ts';
import { startHttpsProxy } from '../../../harness/provider/https-proxy.ts';
import { type Serving, serve } from '../../../harness/provider/serve.ts';
import { secretFile, useRelays } from '../../../harness/relay/relay-under-test.ts';
import { freePort } from '../../../harness/system/free-port.ts';

/** The page of examples/oauth4webapi, a relay, and a provider that takes each refresh token once. */
export interface LibrarySite {
  readonly frontEnd: string;
  readonly relay: string;
  readonly provider: CertifiedProvider;
}

/**
 * One site for the `describe` that this is called in.
 *
 * @param where `https`: the relay has https and a key file. `localhost`: it runs as a developer starts it
 */
export function useLibrarySite(where: 'https' | 'localhost'): () => LibrarySite {
  const startRelay = useRelays();
  let site: LibrarySite | undefined;
  const servings: { close(): Promise<void> }[] = [];

  before('start the provider, the relay and the front end', async () => {
    const port = await freePort();
    const proxy = where === 'https' ? await startHttpsProxy('relay.localhost', port) : undefined;
    const relay = proxy?.url ?? `http://localhost:${port}`;
    const redirectUri = `${relay}/auth/provider/callback`;
    const client = { clientId: 'client-1', clientSecret: canary('secret'), redirectUri };
    const provider = await startCertifiedProvider({ client, refreshes: true });
    const pages = await servePages(libraryExample(relay));
    const host = proxy ? 'front-end.localhost' : 'localhost';
    const frontEnd = `http://${host}:${pages.port}`;
    await startRelay({
      client,
      flags: {
        port: `${port}`,
        origin: frontEnd,
        'base-url': relay,
        issuer: provider.issuer,
        // This provider gives refresh tokens only to logins with its consent page.
        'authorize-params': 'prompt=consent',
        ...(proxy && { 'key-file': await secretFile('the-key-of-these-tests-and-no-others') }),
      },
    });
    servings.push(pages, provider, ...(proxy ? [proxy] : []));
    site = { frontEnd, relay, provider };
  });
  after('stop them', async () => {
    await Promise.all(servings.map((serving) => serving.close()));
  });

  return () => {
    if (site === undefined) throw new Error('the site has not started');
    return site;
  };
}

async function servePages(files: ReadonlyMap<string, string>): Promise<Serving> {
  return await serve(sendFrom(files));
}

/** Answers with the page's files, by their paths. */
export function sendFrom(files: ReadonlyMap<string, string>): RequestListener {
  return (request, response) => {
    const { pathname } = new URL(request.url ?? '', 'http://localhost');
    const file = files.get(pathname);
    const type = pathname === '/' ? 'text/html' : 'text/javascript';
    response.writeHead(file === undefined ? 404 : 200, {
      'Content-Type': `${type}; charset=utf-8`,
    });
    response.end(file);
  };
}
