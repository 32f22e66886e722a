import { readFileSync } from 'node:fs';
import type { RequestListener } from 'node:http';
import { commonStyle, escapeHtml, html } from '../delivery/html.ts';
import type { Delivery } from './deliveries.ts';
import type { Steps } from './steps.ts';

/** The HTML of every page. */
const template = readFileSync(new URL('./front-end/index.html', import.meta.url), 'utf8');

/** The other files, by path. */
const files = {
  '/style.css':
    commonStyle + readFileSync(new URL('./front-end/style.css', import.meta.url), 'utf8'),
  '/page.js': readFileSync(new URL('./front-end/page.js', import.meta.url), 'utf8'),
  '/with-client.js': readFileSync(new URL('./front-end/with-client.js', import.meta.url), 'utf8'),
  '/contract.js': readFileSync(new URL('./front-end/contract.js', import.meta.url), 'utf8'),
  '/cms.js': readFileSync(new URL('./front-end/cms.js', import.meta.url), 'utf8'),
};

/** What the pages of a front end are made for. */
export interface FrontEndOptions {
  /** The relay the pages talk to. */
  readonly relayUrl: string;
  readonly pages: readonly Delivery[];
  /** The requests to the relay, which the pages show. */
  readonly steps: Steps;
}

/** Serves a front end of the demo: a page for each delivery, and their files. */
export function createFrontEnd(options: FrontEndOptions): RequestListener {
  const { relayUrl, pages, steps } = options;
  const relayOrigin = new URL(relayUrl).origin;
  const served = new Map(Object.entries(files));
  for (const page of pages) served.set(page.path, pageOf(page, options));
  const headers = {
    'Cache-Control': 'no-store',
    'Content-Security-Policy': [
      "default-src 'none'",
      `script-src 'self' ${relayOrigin}`,
      "style-src 'self'",
      `connect-src 'self' ${relayOrigin}`,
      'img-src data:',
      "base-uri 'none'",
      "form-action 'none'",
      "frame-ancestors 'none'",
      "require-trusted-types-for 'script'",
    ].join('; '),
    'Referrer-Policy': 'no-referrer',
    'X-Content-Type-Options': 'nosniff',
  };

  return (request, response) => {
    const [path = ''] = (request.url ?? '').split('?');
    const file = served.get(path);
    if (path === '/steps') {
      response.writeHead(200, { ...headers, 'Content-Type': 'text/event-stream' });
      steps.follow(response);
    } else if (file === undefined) {
      response.writeHead(404, { ...headers, 'Content-Type': 'text/plain' }).end('Not found\n');
    } else {
      const type = `${mediaTypeOf(path)}; charset=utf-8`;
      response.writeHead(200, { ...headers, 'Content-Type': type }).end(file);
    }
  };
}

function mediaTypeOf(path: string): string {
  if (path.endsWith('.js')) return 'text/javascript';
  return path.endsWith('.css') ? 'text/css' : 'text/html';
}

/** The HTML of a page. */
function pageOf(
  { name, path: ownPath, lead, guide, script, settings }: Delivery,
  { relayUrl, pages }: FrontEndOptions,
): string {
  const tokenDelivery = `${settings['token-delivery'] ?? 'query'}`;
  const links = pages.map(({ path, title }) => {
    const current = path === ownPath ? ' aria-current="page"' : '';
    return html`<a href="${path}"${{ markup: current }}>${title}</a>`.markup;
  });
  const texts: Readonly<Record<string, string>> = {
    settings: html`<meta name="login-relay" content="${relayUrl}">
<meta name="client-id" content="${name}">
<meta name="token-delivery" content="${tokenDelivery}">`.markup,
    script,
    links: links.join('\n'),
    lead: escapeHtml(lead),
    guide: escapeHtml(guide),
    relay: escapeHtml(relayUrl),
  };
  return template.replaceAll(/\{\{(\w+)\}\}/g, (_, name: string) => texts[name] ?? '');
}
