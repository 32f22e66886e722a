import { readFile } from 'node:fs/promises';
import type { RequestListener } from 'node:http';
import { join } from 'node:path';
import { build } from 'esbuild';
import { canary } from '../../../harness/expect/canaries.ts';
import {
  type CertifiedProvider,
  startCertifiedProvider,
} from '../../../harness/provider/certified-provider.ts';
import { type Serving, serve } from '../../../harness/provider/serve.ts';
import { secretFile, useRelays } from '../../../harness/relay/relay-under-test.ts';
import { freePort } from '../../../harness/system/free-port.ts';

/** A front end with the browser client, a relay, and a provider that takes each refresh token once. */
export interface ClientSite {
  readonly frontEnd: string;
  readonly relayUrl: string;
  readonly provider: CertifiedProvider;
}

const folder = join(import.meta.dirname, '../pages');

/**
 * One site for the `describe` that this is called in. Every path of the front end is the same page with
 * the client, except `/react` with React, `/coop/…` with a Cross-Origin-Opener-Policy, and `/elsewhere`.
 *
 * @param mode `session`: the page is on the relay's site, and the relay keeps the tokens
 * @param pages serves other pages, for a relay at this address
 */
export function useClientSite(
  mode: 'tokens' | 'session',
  pages: (relayUrl: string) => Promise<RequestListener> = (relayUrl) => clientPages(relayUrl, mode),
): () => ClientSite {
  const startRelay = useRelays();
  let site: ClientSite | undefined;
  let frontEnd: Serving | undefined;

  before('start the provider, the relay and the front end', async () => {
    const port = await freePort();
    const relayUrl = `http://${mode === 'session' ? '' : 'relay.'}localhost:${port}`;
    const redirectUri = `${relayUrl}/auth/provider/callback`;
    const client = { clientId: 'client-1', clientSecret: canary('secret'), redirectUri };
    const provider = await startCertifiedProvider({ client, refreshes: true });
    frontEnd = await serve(await pages(relayUrl));
    const origin = `http://${mode === 'session' ? '' : 'front-end.'}localhost:${frontEnd.port}`;
    await startRelay({
      client,
      flags: {
        port: `${port}`,
        origin,
        'base-url': relayUrl,
        ...(mode === 'session' && { 'token-delivery': mode, 'error-delivery': 'redirect' }),
        issuer: provider.issuer,
        // Without it, there is no refresh token (OpenID Connect Core §11).
        'authorize-params': 'prompt=consent',
        'key-file': await secretFile('the-key-of-these-tests-and-no-others'),
      },
    });
    site = { frontEnd: origin, relayUrl, provider };
  });
  after('stop the front end and the provider', async () => {
    await frontEnd?.close();
    await site?.provider.close();
  });

  return () => {
    if (site === undefined) throw new Error('the site has not started');
    return site;
  };
}

async function clientPages(relay: string, mode: 'tokens' | 'session'): Promise<RequestListener> {
  const plain = await readFile(join(folder, 'client.html'), 'utf8');
  const page = plain
    .replaceAll('https://login.example.com', relay)
    .replace("clientId: 'app'", `$&, mode: ${mode === 'session' ? "'session'" : undefined}`);
  const react = await bundleReact(relay);
  return (request, response) => {
    const path = request.url ?? '';
    const isScript = path === '/react.js';
    response.writeHead(200, {
      'Content-Type': `text/${isScript ? 'javascript' : 'html'}; charset=utf-8`,
      ...(path.startsWith('/coop') && { 'Cross-Origin-Opener-Policy': 'same-origin' }),
    });
    if (isScript) response.end(react);
    else if (path === '/elsewhere') response.end('<!doctype html><title>Elsewhere</title>');
    else response.end(path.startsWith('/react') ? reactPage : page);
  };
}

async function bundleReact(relay: string): Promise<string> {
  const { outputFiles } = await build({
    entryPoints: [join(folder, 'client-react.jsx')],
    bundle: true,
    write: false,
    format: 'esm',
    jsx: 'automatic',
    define: {
      relay: JSON.stringify(relay),
      // In production, StrictMode does nothing.
      'process.env.NODE_ENV': '"development"',
    },
    logLevel: 'error',
  });
  return outputFiles[0]?.text ?? '';
}

const reactPage = `<!doctype html>
<link rel="icon" href="data:,">
<title>Front end</title>
<main></main>
<script type="module" src="/react.js"></script>
`;
