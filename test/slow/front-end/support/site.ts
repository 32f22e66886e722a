import { readFile } from 'node:fs/promises';
import type { RequestListener } from 'node:http';
import { join } from 'node:path';
import { build } from 'esbuild';
import { canary } from '../../../harness/expect/canaries.ts';
import { documented } from '../../../harness/project/shipped-pages.ts';
import { type CertifiedProvider, startCertifiedProvider } from '../../../harness/provider/certified-provider.ts';
import { serve } from '../../../harness/provider/serve.ts';
import type { Flags } from '../../../harness/relay/relay-process.ts';
import { keyFile, type Relay, secretFile, useRelays } from '../../../harness/relay/relay-under-test.ts';
import { freePort } from '../../../harness/system/free-port.ts';
import { startedOnce } from '../../../harness/system/started-once.ts';

/** A front end, a relay, and a provider that takes each refresh token once. */
interface Site {
  readonly frontEnd: string;
  readonly relayUrl: string;
  readonly relay: Relay;
  readonly provider: CertifiedProvider;
}

/** The files of a front end by their paths, for a relay at this address; or what serves them. */
type Pages = (relayUrl: string) => RequestListener | Files | Promise<Files> | Promise<RequestListener>;
type Files = Readonly<Record<string, string>>;

interface SiteOptions {
  /** Whether front end and relay are one site in a browser's eyes. */
  readonly isShared?: boolean;
  readonly pages: Pages;
  readonly flags?: Flags;
  /** The front ends, as a configuration file has them. By default, the front end is configured by flags. */
  readonly frontEnds?: (frontEnd: string) => string;
}

/** One site for the `describe` that this is called in. */
export function useSite({ isShared, pages, flags, frontEnds }: SiteOptions): () => Site {
  const startRelay = useRelays();
  const hostOf = (name: string) => (isShared ? 'localhost' : `${name}.localhost`);
  const servings: { close(): Promise<void> }[] = [];

  const start = async (): Promise<Site> => {
    const port = `${await freePort()}`;
    const relayUrl = `http://${hostOf('relay')}:${port}`;
    const redirectUri = `${relayUrl}/auth/provider/callback`;
    const client = { clientId: 'client-1', clientSecret: canary('secret'), redirectUri };
    const provider = await startCertifiedProvider({ client, refreshes: true });
    const served = await pages(relayUrl);
    const page = await serve(typeof served === 'function' ? served : sendFrom(served));
    servings.push(provider, page);
    const frontEnd = `http://${hostOf('front-end')}:${page.port}`;
    // Without the consent page, there is no refresh token (OpenID Connect Core §11).
    const ofProvider = { issuer: provider.issuer, 'authorize-params': 'prompt=consent' };
    if (frontEnds === undefined) {
      const own = { port, origin: frontEnd, 'base-url': relayUrl, 'key-file': await keyFile() };
      const relay = await startRelay({ client, flags: { ...own, ...ofProvider, ...flags } });
      return { frontEnd, relayUrl, relay, provider };
    }
    const { clientId, clientSecret } = client;
    const registered = { 'client-id': clientId, 'client-secret': clientSecret, ...ofProvider };
    const config = await secretFile(`base-url: ${relayUrl}
providers: { provider: ${JSON.stringify(registered)} }
${frontEnds(frontEnd)}`);
    const none = { origin: undefined, 'base-url': undefined, 'client-id': undefined };
    const alone = { ...none, 'client-secret-file': undefined, port, config };
    return { frontEnd, relayUrl, relay: await startRelay({ client, flags: alone }), provider };
  };
  const stop = () => Promise.all(servings.map((serving) => serving.close()));
  return startedOnce('the provider, the relay and the front end', start, stop);
}

/** @param mode with `session`, the page is on the relay's site, and the relay keeps the tokens */
export function useClientSite(
  mode: 'tokens' | 'session',
  pages: Pages = (relayUrl) => clientPages(relayUrl, mode),
): () => Site {
  const hasSessions = mode === 'session';
  const flags = hasSessions ? { 'token-delivery': mode } : {};
  return useSite({ isShared: hasSessions, pages, flags });
}

/**
 * A site whose front end uses the library as docs/http-api.md says.
 *
 * @param settings further settings of the library, as JavaScript writes them
 */
export function useLibrarySite(
  library: 'oidc-client-ts' | 'react-oauth2-code-pkce',
  flags: Flags = {},
  settings = '',
): () => Site {
  const script = { 'oidc-client-ts': 'oidc-client-ts.js', 'react-oauth2-code-pkce': 'react.jsx' };
  const pages = async (relay: string) => {
    const documentedSettings = documented(`${library}.js`, relay, 'http-api');
    const contents =
      documentedSettings.replace(/\n\}\)?;\n$/, `\n${settings}$&`) +
      (await readFile(join(folder, script[library]), 'utf8'));
    return { '/': libraryPage, '/page.js': await bundle(contents, relay) };
  };
  return useSite({ pages, flags });
}

/** A site whose front end uses React, with the hook of client/README.md. */
export function useReactSite(): () => Site {
  const pages = async (relay: string) => {
    const hook = await readFile(join(folder, '../../../../examples/next/app/use-login.js'), 'utf8');
    const login = `import { createLogin } from '../../../../client/client.js';
const login = createLogin({ relay: relay + '/auth/provider', clientId: 'app' });\n`;
    const contents =
      login +
      hook.replace("import { login } from './login.js';\n", '') +
      (await readFile(join(folder, 'use-login.jsx'), 'utf8'));
    return { '/': libraryPage, '/page.js': await bundle(contents, relay) };
  };
  return useSite({ pages });
}

const folder = join(import.meta.dirname, '../pages');

/** Every path is the page with the client, except `/coop` with a Cross-Origin-Opener-Policy, and `/elsewhere`. */
async function clientPages(relay: string, mode: 'tokens' | 'session'): Promise<RequestListener> {
  const plain = await readFile(join(folder, 'client.html'), 'utf8');
  const page = plain
    .replaceAll('https://login.example.com', relay)
    .replace("clientId: 'app'", `$&, mode: ${mode === 'session' ? "'session'" : undefined}`);
  return ({ url = '' }, response) => {
    if (url === '/coop') response.setHeader('Cross-Origin-Opener-Policy', 'same-origin');
    response.writeHead(200, { 'Content-Type': 'text/html; charset=utf-8' });
    response.end(url === '/elsewhere' ? '<!doctype html><title>Elsewhere</title>' : page);
  };
}

function sendFrom(files: Files): RequestListener {
  return ({ url = '' }, response) => {
    const { pathname } = new URL(url, 'http://localhost');
    const type = pathname === '/' ? 'html' : 'javascript';
    response.writeHead(pathname in files ? 200 : 404, {
      'Content-Type': `text/${type}; charset=utf-8`,
    });
    response.end(files[pathname]);
  };
}

/** Bundles a script for the browser. `relay` in it is the relay's address. */
async function bundle(contents: string, relay: string): Promise<string> {
  const { outputFiles } = await build({
    stdin: { contents, resolveDir: folder, loader: 'jsx' },
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

const libraryPage = `<!doctype html>
<link rel="icon" href="data:,">
<title>Front end</title>
<main>
  <button id="log-in" type="button">Log in</button>
  <button id="log-out" type="button">Log out</button>
  <p role="status"></p>
  <p role="alert"></p>
</main>
<script type="module" src="/page.js"></script>
`;
