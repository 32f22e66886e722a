import type { RequestListener } from 'node:http';
import { escapeHtml, html } from '../delivery/html.ts';
import { assets } from './assets.ts';
import type { Delivery } from './deliveries.ts';
import type { Steps } from './steps.ts';

/** A page of a front end. */
export interface Page {
  readonly delivery: Delivery;
  /** The name of the front end at the relay. */
  readonly clientId: string;
}

/** What the pages of a front end are made for. */
export interface FrontEndOptions {
  /** The relay the pages talk to. */
  readonly relayUrl: string;
  /** The name of the provider in the relay's paths. */
  readonly registration: string;
  readonly pages: readonly Page[];
  /** The only origin besides the relay's that they may load pictures from. */
  readonly pictureOrigin: string;
  /** The requests to the relay, which the pages show. */
  readonly steps?: Steps;
}

/** Serves a front end of the demo: a page for each delivery, and their files. */
export function createFrontEnd(options: FrontEndOptions): RequestListener {
  const { relayUrl, pages, pictureOrigin, steps } = options;
  const relayOrigin = new URL(relayUrl).origin;
  const files = new Map([
    ...Object.entries(assets.files).map(([name, text]) => [`/${name}`, text] as const),
    ...pages.map((page) => [page.delivery.path, pageOf(page, options)] as const),
  ]);
  const headers = {
    'Cache-Control': 'no-store',
    'Content-Security-Policy': [
      "default-src 'none'",
      `script-src 'self' ${relayOrigin}`,
      "style-src 'self'",
      `connect-src 'self' ${relayOrigin}`,
      `img-src data: ${pictureOrigin}`,
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
    const file = files.get(path);
    const isRead = request.method === 'GET' || request.method === 'HEAD';
    if (path === '/steps' && steps !== undefined && request.method === 'GET') {
      response.writeHead(200, { ...headers, 'Content-Type': 'text/event-stream' });
      steps.follow(response);
    } else if (file === undefined) {
      response.writeHead(404, { ...headers, 'Content-Type': 'text/plain' }).end('Not found\n');
    } else if (!isRead) {
      response.writeHead(405, { ...headers, Allow: 'GET, HEAD' }).end();
    } else {
      const content = Buffer.from(file);
      response.writeHead(200, {
        ...headers,
        'Content-Type': `${mediaTypeOf(path)}; charset=utf-8`,
        'Content-Length': content.length,
      });
      response.end(request.method === 'HEAD' ? undefined : content);
    }
  };
}

function mediaTypeOf(path: string): string {
  if (path.endsWith('.js')) return 'text/javascript';
  return path.endsWith('.css') ? 'text/css' : 'text/html';
}

/** The HTML of a page. */
function pageOf(
  { delivery, clientId }: Page,
  { relayUrl, registration, pages, steps }: FrontEndOptions,
): string {
  const links = pages.map(({ delivery: { path, title } }) => {
    const current = path === delivery.path ? ' aria-current="page"' : '';
    return html`<a href="${path}"${{ markup: current }}>${title}</a>`.markup;
  });
  const scripts = [delivery.name, ...(steps === undefined ? [] : ['steps'])].map(
    (name) => html`<script type="module" src="/${name}.js"></script>`.markup,
  );
  return fillIn(assets.page, {
    settings: html`<meta name="login-relay" content="${relayUrl}">
<meta name="provider" content="${registration}">
<meta name="client-id" content="${clientId}">`.markup,
    scripts: scripts.join('\n'),
    links: pages.length > 1 ? `<nav aria-label="Deliveries">\n${links.join('\n')}\n</nav>` : '',
    steps: steps === undefined ? '' : stepsPanel,
    lead: escapeHtml(delivery.lead),
    guide: escapeHtml(delivery.guide),
    relay: escapeHtml(relayUrl),
  });
}

const stepsPanel = `<aside aria-labelledby="what-happens">
<h2 id="what-happens">What happens</h2>
<ol id="steps"><li class="none">Each request to the relay appears here.</li></ol>
</aside>`;

/** Replaces `{{name}}` by the text of that name. */
function fillIn(template: string, texts: Readonly<Record<string, string>>): string {
  return template.replaceAll(/\{\{(\w+)\}\}/g, (_, name: string) => texts[name] ?? '');
}
