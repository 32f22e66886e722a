import { hash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { gzipSync } from 'node:zlib';
import type { Middleware } from 'koa';

const hour = 3600;
const module = readFileSync(new URL('../../client/client.js', import.meta.url), 'utf8');
const types = readFileSync(new URL('../../client/client.d.ts', import.meta.url), 'utf8');

/** `GET /client.js`: the browser client, for pages of any origin. */
export const clientModule = clientFile('text/javascript; charset=utf-8', module);

/** `GET /client.d.ts`: the types of the browser client. */
export const clientTypes = clientFile('text/plain; charset=utf-8', types);

/** Serves a file that changes only with the release. */
function clientFile(type: string, text: string): Middleware {
  const name = hash('sha256', text, 'base64url');
  const compressed = gzipSync(text, { level: 9 });
  return async (ctx) => {
    // Caches keep it for all pages, and some ignore Vary. So the answer never names an origin.
    for (const header of ctx.res.getHeaderNames()) {
      if (header.startsWith('access-control-')) ctx.remove(header);
    }
    ctx.set('Access-Control-Allow-Origin', '*');
    ctx.set('Cross-Origin-Resource-Policy', 'cross-origin');
    ctx.set('Cache-Control', `public, max-age=${hour}`);
    ctx.set('Vary', 'Accept-Encoding');
    ctx.set('Content-Type', type);
    if (ctx.acceptsEncodings('gzip', 'identity') === 'gzip') {
      ctx.set('Content-Encoding', 'gzip');
      ctx.set('ETag', `"${name}-gzip"`);
      ctx.body = compressed;
    } else {
      ctx.set('ETag', `"${name}"`);
      ctx.body = text;
    }
    // Koa asks for a status before it compares the ETag.
    ctx.status = 200;
    if (ctx.fresh) ctx.status = 304;
  };
}
