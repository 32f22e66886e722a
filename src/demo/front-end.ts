import { readFileSync } from 'node:fs';
import type { RequestListener } from 'node:http';
import { extname } from 'node:path';
import { commonStyle, html } from '../delivery/html.ts';
import { securityHeaders } from '../http/response-headers.ts';
import { createNotesApi, notesPath } from './notes.ts';
import type { DemoPage } from './pages.ts';
import type { Steps } from './steps.ts';

/** The files that all pages share, by path. */
const sharedFiles = {
  '/style.css': commonStyle + readFileSync(new URL('./front-end/style.css', import.meta.url), 'utf8'),
  '/page.js': readFileSync(new URL('./front-end/page.js', import.meta.url), 'utf8'),
};

/** The scripts of the pages, for a relay at `usualRelay`. A page also shows its script. */
const scripts = {
  'oauth.js': readFileSync(new URL('./front-end/oauth.js', import.meta.url), 'utf8'),
  'session.js': readFileSync(new URL('./front-end/session.js', import.meta.url), 'utf8'),
  'notes.js': readFileSync(new URL('./front-end/notes.js', import.meta.url), 'utf8'),
  'anyone.js': readFileSync(new URL('./front-end/anyone.js', import.meta.url), 'utf8'),
  'contract.js': readFileSync(new URL('./front-end/contract.js', import.meta.url), 'utf8'),
  'cms.js': readFileSync(new URL('./front-end/cms.js', import.meta.url), 'utf8'),
};
const usualRelay = 'http://localhost:8000';

/** The other addresses of the demo, which the pages need. */
type Links = Readonly<Record<'relayUrl' | 'dashboardUrl', string>>;

/**
 * Creates the server of all front ends of the demo: the pages with their files, the notes, and the requests to the
 * relay.
 *
 * @param steps the requests to the relay, which the pages show
 */
export function createFrontEnd(links: Links, pages: readonly DemoPage[], steps: Steps): RequestListener {
  const { relayUrl } = links;
  const relayOrigin = new URL(relayUrl).origin;
  const notes = createNotesApi(relayUrl);
  const pageFiles = pages.flatMap((page) => {
    const script = adaptScript(page, relayOrigin);
    return [
      [page.path, renderPage(page, pages, links, script)],
      [scriptPathOf(page), script],
    ] as const;
  });
  const filesByPath = new Map([...Object.entries(sharedFiles), ...pageFiles]);
  const policy = `script-src 'self' ${relayOrigin}; style-src 'self'; connect-src 'self' ${relayOrigin}; img-src data:; base-uri 'none'; form-action 'none'; require-trusted-types-for 'script'`;
  const headers = {
    ...securityHeaders,
    'Content-Security-Policy': `${securityHeaders['Content-Security-Policy']}; ${policy}`,
  };

  return (request, response) => {
    const [path = ''] = (request.url ?? '').split('?');
    const writeHead = (status: number, type: string) =>
      response.writeHead(status, { ...headers, 'Content-Type': `${type}; charset=utf-8` });
    const file = filesByPath.get(path);
    if (path === '/steps') steps.follow(writeHead(200, 'text/event-stream'));
    // The path of the notes' metadata ends in the same way.
    else if (path.endsWith(notesPath)) notes(request, response);
    else if (file === undefined) writeHead(404, 'text/plain').end('Not found\n');
    else writeHead(200, mediaTypes[extname(path)] ?? 'text/html').end(file);
  };
}

const mediaTypes: Readonly<Record<string, string>> = {
  '.css': 'text/css',
  '.js': 'text/javascript',
};

const scriptPathOf = ({ name }: DemoPage) => `/${name}.js`;

/** Adapts the script of a page to the relay and the front end. Another page would need the same lines. */
function adaptScript({ name, script }: DemoPage, relayOrigin: string): string {
  return scripts[script].replaceAll(usualRelay, relayOrigin).replace(/clientId: '\w+'/, `clientId: '${name}'`);
}

/** Renders a page: links to all pages, elements for its script, the requests to come, and the script as a text. */
function renderPage(
  page: DemoPage,
  pages: readonly DemoPage[],
  { relayUrl, dashboardUrl }: Links,
  source: string,
): string {
  const { name, path: ownPath, lead, requests, guide } = page;
  const links = pages.map(({ path, title }) => {
    const current = { markup: path === ownPath ? ' aria-current="page"' : '' };
    return html`<a href="${path}"${current}>${title}</a>`;
  });
  return html`<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Login relay demo</title>
<meta name="login-relay" content="${relayUrl}">
<meta name="client-id" content="${name}">
<link rel="icon" href="data:,">
<link rel="stylesheet" href="/style.css">
<script type="module" id="script" src="${scriptPathOf(page)}"></script>
<script type="module" src="/page.js"></script>
<header>
  <h1>See a login happen</h1>
  <p class="soft">Choose what you build and log in: the requests to the relay appear as they happen; those to come are grey.</p>
</header>
<nav aria-label="What you build">
${links}
<a href="${dashboardUrl}">A dashboard behind the login</a>
</nav>
<main aria-live="polite">
  <p id="problem" role="alert" hidden></p>
  <section id="out" hidden>
    <h2>Not logged in</h2>
    <p class="soft">${lead}</p>
    <button type="button" id="login">Log in</button>
  </section>
  <section id="in" hidden>
    <h2 id="name">Somebody</h2>
    <p class="soft" id="account"></p>
    <button type="button" id="logout">Log out</button>
  </section>
  <noscript>This page needs JavaScript to log in.</noscript>
</main>
<aside aria-labelledby="what-happens">
  <h2 id="what-happens">Requests to the relay</h2>
  <ol id="steps">
${requests.map((request) => html`<li class="soft"><code>${request}</code></li>`)}
  </ol>
</aside>
<section aria-labelledby="source">
  <h2 id="source">How this page does it</h2>
  <pre><code>${source}</code></pre>
  <p class="soft">These lines run here, and are all that a page needs. <a href="/page.js">page.js</a> shows the user and the
  requests.</p>
</section>
<footer class="soft">Relay: ${relayUrl} · How to do this in your page: <code>${guide}</code></footer>
</html>
`.markup;
}
