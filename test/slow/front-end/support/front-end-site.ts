import { readFile } from 'node:fs/promises';
import type { RequestListener } from 'node:http';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { documented } from '../../../harness/project/shipped-pages.ts';
import type { Flags } from '../../../harness/relay/relay-process.ts';
import { authorize } from './client-page.ts';
import { bundle, type Site, useSite } from './site.ts';

interface Options {
  readonly library: 'oidc-client-ts' | 'react-oauth2-code-pkce';
  /** Further settings of the library, as JavaScript writes them. */
  readonly settings?: string;
  readonly flags?: Flags;
}

/**
 * One site for the `describe` that this is called in: front end, relay and provider are sites of their own in a
 * browser's eyes. The front end uses the library as docs/front-end.md says.
 */
export function useFrontEndSite({ library, settings = '', flags = {} }: Options): () => Site {
  const pages = (relayUrl: string) => libraryPage(library, settings, relayUrl);
  return useSite({ isShared: false, pages, flags });
}

/** Goes from the front end's button to its page after the login. */
export async function logIn(page: Page, login: string): Promise<void> {
  await page.getByRole('button', { name: 'Log in' }).click();
  await authorize(page, login);
}

const scripts = { 'oidc-client-ts': 'oidc-client-ts.js', 'react-oauth2-code-pkce': 'react.jsx' };

async function libraryPage(
  library: Options['library'],
  settings: string,
  relay: string,
): Promise<RequestListener> {
  const resolveDir = join(import.meta.dirname, '../pages');
  const script = await readFile(join(resolveDir, scripts[library]), 'utf8');
  const settingsOfLibrary = documented(`${library}.js`, relay);
  const contents = settingsOfLibrary.replace(/\n\}\)?;\n$/, `\n${settings}$&`) + script;
  const text = await bundle({ stdin: { contents, resolveDir, loader: 'jsx' } }, relay);
  return (request, response) => {
    const isScript = request.url === '/page.js';
    const type = isScript ? 'text/javascript' : 'text/html';
    response.writeHead(200, { 'Content-Type': `${type}; charset=utf-8` });
    response.end(isScript ? text : html);
  };
}

const html = `<!doctype html>
<html lang="en">
<meta charset="utf-8">
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
