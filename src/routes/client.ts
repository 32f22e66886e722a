import { hash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { Middleware } from 'koa';

const hour = 3600;
const module = readFileSync(new URL('../../client/client.js', import.meta.url));
const brotli = readFileSync(new URL('../../client/client.js.br', import.meta.url));
const types = readFileSync(new URL('../../client/client.d.ts', import.meta.url));
const npmPackage = readFileSync(new URL('../../client/client.tgz', import.meta.url));

/** `GET /client.js`: the browser client, for pages of any origin. */
export const clientModule = clientFile('text/javascript; charset=utf-8', module, brotli);

/** `GET /client.d.ts`: the types of the browser client. */
export const clientTypes = clientFile('text/plain; charset=utf-8', types);

/** `GET /client.tgz`: the browser client as a package, for `npm install`. */
export const clientPackage = clientFile('application/gzip', npmPackage);

/** Serves a file that changes only with the release. @param compressed the same with Brotli, for those who accept it */
function clientFile(type: string, content: Buffer, compressed?: Buffer): Middleware {
  const name = hash('sha256', content, 'base64url');
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
    if (compressed && ctx.acceptsEncodings('br', 'identity') === 'br') {
      ctx.set('Content-Encoding', 'br');
      ctx.set('ETag', `"${name}-br"`);
      ctx.body = compressed;
    } else {
      ctx.set('ETag', `"${name}"`);
      ctx.body = content;
    }
    // Koa asks for a status before it compares the ETag.
    ctx.status = 200;
    if (ctx.fresh) ctx.status = 304;
  };
}
