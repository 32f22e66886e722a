import { createHash } from 'node:crypto';
import type { RequestListener } from 'node:http';
import { escapeHtml } from '../delivery/html.ts';
import { assets } from './assets.ts';

/** What the page of a front end is made for. */
export interface FrontEndOptions {
  /** The relay the page talks to; the only address it may connect to. */
  readonly relayUrl: string;
  /** The name of the provider in the relay's paths. */
  readonly registration: string;
  /** The name of the front end. */
  readonly clientId: string;
  /** The only origin it may load pictures from. */
  readonly pictureOrigin: string;
}

/** Serves the demo's front end, one static page at `/`. */
export function createFrontEnd(options: FrontEndOptions): RequestListener {
  const { relayUrl, registration, clientId, pictureOrigin } = options;
  const settings = { 'login-relay': relayUrl, provider: registration, 'client-id': clientId };
  const page = Buffer.from(
    Object.entries(settings).reduce(
      (text, [name, value]) => withSetting(text, name, value),
      assets.frontEnd,
    ),
  );
  const headers = {
    'Cache-Control': 'no-store',
    'Content-Security-Policy': [
      "default-src 'none'",
      `script-src ${hashOf(assets.frontEnd, 'script')}`,
      `style-src ${hashOf(assets.frontEnd, 'style')}`,
      `connect-src ${new URL(relayUrl).origin}`,
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
    const [path] = (request.url ?? '').split('?');
    if (path !== '/') {
      response.writeHead(404, { ...headers, 'Content-Type': 'text/plain' }).end('Not found\n');
    } else if (request.method !== 'GET' && request.method !== 'HEAD') {
      response.writeHead(405, { ...headers, Allow: 'GET, HEAD' }).end();
    } else {
      response.writeHead(200, {
        ...headers,
        'Content-Type': 'text/html; charset=utf-8',
        'Content-Length': page.length,
      });
      response.end(request.method === 'HEAD' ? undefined : page);
    }
  };
}

/** Sets the content of the `meta` element of that name. */
function withSetting(page: string, name: string, value: string): string {
  const place = new RegExp(`(?<=<meta name="${name}" content=")[^"]*`);
  if (!place.test(page)) throw new Error(`the front end has no place for the setting ${name}`);
  return page.replace(place, () => escapeHtml(value));
}

/** The CSP source that allows the page's one inline element of that name. */
function hashOf(page: string, element: 'script' | 'style'): string {
  const content = page.match(new RegExp(`<${element}>(.*?)</${element}>`, 's'))?.[1];
  if (content === undefined) throw new Error(`the front end has no inline ${element}`);
  return `'sha256-${createHash('sha256').update(content).digest('base64')}'`;
}
