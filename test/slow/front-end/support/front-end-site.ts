import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { build } from 'esbuild';
import type { Page } from 'playwright-core';
import { canary } from '../../../harness/expect/canaries.ts';
import { documented } from '../../../harness/project/shipped-pages.ts';
import {
  type CertifiedProvider,
  startCertifiedProvider,
} from '../../../harness/provider/certified-provider.ts';
import { type Serving, serve } from '../../../harness/provider/serve.ts';
import type { Flags } from '../../../harness/relay/relay-process.ts';
import { type Relay, secretFile, useRelays } from '../../../harness/relay/relay-under-test.ts';
import { freePort } from '../../../harness/system/free-port.ts';

/** A front end, the relay and oidc-provider, each a site of its own in a browser's eyes. */
export interface FrontEndSite {
  readonly frontEnd: string;
  readonly relayUrl: string;
  readonly relay: Relay;
  readonly provider: CertifiedProvider;
}

interface Options {
  readonly library: 'oidc-client-ts' | 'react-oauth2-code-pkce';
  /** Further settings of the library, as JavaScript writes them. */
  readonly settings?: string;
  readonly flags?: Flags;
}

/**
 * One site for the `describe` that this is called in. The front end uses the library as
 * docs/front-end.md says. The provider rotates its refresh tokens.
 */
export function useFrontEndSite({
  library,
  settings = '',
  flags = {},
}: Options): () => FrontEndSite {
  const startRelay = useRelays();
  let site: FrontEndSite | undefined;
  let pages: Serving | undefined;

  before('start the provider, the relay and the front end', async () => {
    const port = await freePort();
    const relayUrl = `http://relay.localhost:${port}`;
    const redirectUri = `${relayUrl}/auth/provider/callback`;
    const client = { clientId: 'client-1', clientSecret: canary('secret'), redirectUri };
    const provider = await startCertifiedProvider({ client, refreshes: true });
    pages = await servePage(library, settings, relayUrl);
    const frontEnd = `http://front-end.localhost:${pages.port}`;
    const relay = await startRelay({
      client,
      flags: {
        port: `${port}`,
        origin: frontEnd,
        'base-url': relayUrl,
        issuer: provider.issuer,
        // Without it, there is no refresh token (OpenID Connect Core §11).
        'authorize-params': 'prompt=consent',
        'key-file': await secretFile('the-key-of-these-tests-and-no-others'),
        ...flags,
      },
    });
    site = { frontEnd, relayUrl, relay, provider };
  });
  after('stop the front end and the provider', async () => {
    await pages?.close();
    await site?.provider.close();
  });

  return () => {
    if (site === undefined) throw new Error('the site has not started');
    return site;
  };
}

/** Goes from the front end's button to its page after the login. */
export async function logIn(page: Page, login: string): Promise<void> {
  await page.getByRole('button', { name: 'Log in' }).click();
  await page.getByPlaceholder('Enter any login').fill(login);
  await page.getByPlaceholder('and password').fill('any');
  await page.getByRole('button', { name: 'Sign-in' }).click();
  await page.getByRole('button', { name: 'Continue' }).click();
}

const scripts = { 'oidc-client-ts': 'oidc-client-ts.js', 'react-oauth2-code-pkce': 'react.jsx' };

async function servePage(
  library: Options['library'],
  settings: string,
  relay: string,
): Promise<Serving> {
  const resolveDir = join(import.meta.dirname, '../pages');
  const script = await readFile(join(resolveDir, scripts[library]), 'utf8');
  const settingsOfLibrary = documented(`${library}.js`, relay);
  const { outputFiles } = await build({
    stdin: {
      contents: settingsOfLibrary.replace(/\n\}\)?;\n$/, `\n${settings}$&`) + script,
      resolveDir,
      loader: 'jsx',
    },
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
  const bundle = outputFiles[0]?.text ?? '';
  return await serve((request, response) => {
    const isScript = request.url === '/page.js';
    const type = isScript ? 'text/javascript' : 'text/html';
    response.writeHead(200, { 'Content-Type': `${type}; charset=utf-8` });
    response.end(isScript ? bundle : html);
  });
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
