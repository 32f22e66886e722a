import { createHash } from 'node:crypto';
import type { RequestListener } from 'node:http';
import { escapeHtml } from '../delivery/html.ts';
import { assets } from './assets.ts';

/**
 * Serves the demo's front end, one static page at `/`.
 * @param relayUrl the relay the page talks to; the only address it may connect to
 * @param pictureOrigin the only origin it may load pictures from
 */
export function createFrontEnd(relayUrl: string, pictureOrigin: string): RequestListener {
  const page = Buffer.from(
    replaceOnce(
      assets.frontEnd,
      /(?<=<meta name="login-relay" content=")[^"]*/,
      escapeHtml(relayUrl),
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

function replaceOnce(text: string, pattern: RegExp, replacement: string): string {
  if (!pattern.test(text)) throw new Error('the front end has no place for the relay’s address');
  return text.replace(pattern, () => replacement);
}

/** The CSP source that allows the page's one inline element of that name. */
function hashOf(page: string, element: 'script' | 'style'): string {
  const content = page.match(new RegExp(`<${element}>(.*?)</${element}>`, 's'))?.[1];
  if (content === undefined) throw new Error(`the front end has no inline ${element}`);
  return `'sha256-${createHash('sha256').update(content).digest('base64')}'`;
}
