import { readFile } from 'node:fs/promises';
import type { RequestListener } from 'node:http';
import { join } from 'node:path';
import { bundle, type Site, type SiteOptions, useSite } from './site.ts';

const folder = join(import.meta.dirname, '../pages');

/**
 * One site for the `describe` that this is called in. Every path of the front end is the same page with
 * the client, except `/react` with React, `/coop/…` with a Cross-Origin-Opener-Policy, and `/elsewhere`.
 *
 * @param mode `session`: the page is on the relay's site, and the relay keeps the tokens
 * @param pages serves other pages, for a relay at this address
 * @param more of the site
 */
export function useClientSite(
  mode: 'tokens' | 'session',
  pages: (relayUrl: string) => Promise<RequestListener> = (relayUrl) => clientPages(relayUrl, mode),
  more: Pick<SiteOptions, 'flags' | 'balance'> = {},
): () => Site {
  const hasSessions = mode === 'session';
  const flags = hasSessions ? { 'token-delivery': mode } : {};
  return useSite({ isShared: hasSessions, pages, flags, ...more });
}

async function clientPages(relay: string, mode: 'tokens' | 'session'): Promise<RequestListener> {
  const plain = await readFile(join(folder, 'client.html'), 'utf8');
  const page = plain
    .replaceAll('https://login.example.com', relay)
    .replace("clientId: 'app'", `$&, mode: ${mode === 'session' ? "'session'" : undefined}`);
  const react = await bundle({ entryPoints: [join(folder, 'client-react.jsx')] }, relay);
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

const reactPage = `<!doctype html>
<link rel="icon" href="data:,">
<title>Front end</title>
<main></main>
<script type="module" src="/react.js"></script>
`;
