import { hash } from 'node:crypto';
import { readFileSync } from 'node:fs';
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
  const etag = `"${hash('sha256', text, 'base64url')}"`;
  return async (ctx) => {
    // Caches keep it for all pages, and some ignore Vary. So the answer never names an origin.
    for (const name of ctx.res.getHeaderNames()) {
      if (name.startsWith('access-control-') || name === 'vary') ctx.remove(name);
    }
    ctx.set('Access-Control-Allow-Origin', '*');
    ctx.set('Cross-Origin-Resource-Policy', 'cross-origin');
    ctx.set('Cache-Control', `public, max-age=${hour}`);
    ctx.set('ETag', etag);
    ctx.set('Content-Type', type);
    ctx.body = text;
    // Koa asks for a status before it compares the ETag.
    ctx.status = 200;
    if (ctx.fresh) ctx.status = 304;
  };
}
