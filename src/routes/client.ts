import { hash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { Middleware } from 'koa';
import { paths } from '../paths.ts';

const hour = 3600;
const module = readFileSync(new URL('../../client/client.js', import.meta.url));
const brotli = readFileSync(new URL('../../client/client.js.br', import.meta.url));
const types = readFileSync(new URL('../../client/client.d.ts', import.meta.url));
const npmPackage = readFileSync(new URL('../../client/client.tgz', import.meta.url));

/** The browser client by its paths, for pages of any origin: the module, its types, the package for `npm install`. */
export const clientFiles: Readonly<Record<string, Middleware>> = {
  [paths.clientModule]: clientFile('text/javascript; charset=utf-8', module, brotli),
  [paths.clientTypes]: clientFile('text/plain; charset=utf-8', types),
  [paths.clientPackage]: clientFile('application/gzip', npmPackage),
};

/** Serves a file that changes only with the release. @param compressed the same with Brotli, for those who accept it */
function clientFile(type: string, content: Buffer, compressed?: Buffer): Middleware {
  const name = hash('sha256', content, 'base64url');
  return (ctx) => {
    // Caches keep it for all pages, and some ignore Vary. So the answer never names an origin.
    for (const header of ctx.res.getHeaderNames()) {
      if (header.startsWith('access-control-')) ctx.remove(header);
    }
    const isCompressed = compressed && ctx.acceptsEncodings('br', 'identity') === 'br';
    ctx.set({
      'Access-Control-Allow-Origin': '*',
      'Cross-Origin-Resource-Policy': 'cross-origin',
      'Cache-Control': `public, max-age=${hour}`,
      Vary: 'Accept-Encoding',
      'Content-Type': type,
      ETag: isCompressed ? `"${name}-br"` : `"${name}"`,
      ...(isCompressed && { 'Content-Encoding': 'br' }),
    });
    ctx.body = isCompressed ? compressed : content;
    // Koa asks for a status before it compares the ETag.
    ctx.status = 200;
    if (ctx.fresh) ctx.status = 304;
  };
}
