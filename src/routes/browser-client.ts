import { hash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { gzipSync } from 'node:zlib';
import type { Middleware } from 'koa';
import type { Context } from '../http/context.ts';
import { makePublic } from '../http/cors.ts';
import { redirect } from '../http/redirect.ts';
import { isShortHeader } from '../http/request-guards.ts';
import { paths } from '../paths.ts';

const hour = 3600;
const year = 8760 * hour;
const clientModule = readFileSync(new URL('../../client/client.js', import.meta.url));
const compressed = {
  br: readFileSync(new URL('../../client/client.js.br', import.meta.url)),
  gzip: gzipSync(clientModule, { level: 9 }),
};
const types = readFileSync(new URL('../../client/client.d.ts', import.meta.url));
const npmPackage = readFileSync(new URL('../../client/client.tgz', import.meta.url));
const forAnHour = `public, max-age=${hour}`;
const forGood = `public, max-age=${year}, immutable`;

/**
 * The files of the browser client by path, for pages of any origin: the module, its types, and the package for `npm
 * install`. The address of the package contains the version, because lock files hold the address with a checksum.
 */
export const clientFiles: Readonly<Record<string, Middleware>> = {
  [paths.clientModule]: serveFile('text/javascript; charset=utf-8', clientModule, forAnHour, compressed),
  [paths.clientTypes]: serveFile('text/plain; charset=utf-8', types, forAnHour),
  [paths.clientRelease]: serveFile('application/gzip', npmPackage, forGood),
  // A relative redirect, because the base URL may have a path.
  [paths.clientPackage]: (ctx) => {
    allowAllPages(ctx);
    redirect(ctx, paths.clientRelease.slice(1));
  },
};

/** Lets every page load an answer. */
function allowAllPages(ctx: Context): void {
  makePublic(ctx);
  ctx.set('Cross-Origin-Resource-Policy', 'cross-origin');
}

/** Serves a file that changes only with a release. @param encodings its compressed forms, the smallest first */
function serveFile(
  type: string,
  content: Buffer,
  caching: string,
  encodings: Readonly<Record<string, Buffer>> = {},
): Middleware {
  const contentHash = hash('sha256', content, 'base64url');
  return (ctx) => {
    allowAllPages(ctx);
    const accepted = isShortHeader(ctx, 'Accept-Encoding') ? Object.keys(encodings) : [];
    const encoding = accepted.find((one) => ctx.acceptsEncodings(one, 'identity') === one);
    ctx.set({
      'Cache-Control': caching,
      Vary: 'Accept-Encoding',
      'Content-Type': type,
      ETag: encoding === undefined ? `"${contentHash}"` : `"${contentHash}-${encoding}"`,
      ...(encoding && { 'Content-Encoding': encoding }),
    });
    ctx.body = (encoding && encodings[encoding]) || content;
    // Koa compares the ETag only if the status is set.
    ctx.status = 200;
    if (isShortHeader(ctx, 'If-None-Match') && ctx.fresh) ctx.status = 304;
  };
}
