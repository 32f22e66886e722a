import Router from '@koa/router';
import type { Middleware } from 'koa';
import { SessionNotFound } from 'oidc-provider/lib/helpers/errors.js';
import type { Provider } from 'oidc-provider/lib/provider.js';
import getRawBody from 'raw-body';
import { maxNameLength, type ProviderPages, styleSource } from './provider-pages.ts';

/** A form of the login page is shorter. */
const maxFormBytes = 4096;

const headers = {
  'Cache-Control': 'no-store',
  // No form-action: browsers apply it to redirects too, and the login form's answer leads on
  // to the client and from there to wherever the client sends its users.
  'Content-Security-Policy': `default-src 'none'; style-src ${styleSource}; img-src data:; base-uri 'none'; frame-ancestors 'none'`,
  'Referrer-Policy': 'no-referrer',
  'X-Content-Type-Options': 'nosniff',
};

/** The login page. */
export function loginRoutes(provider: Provider, pages: ProviderPages) {
  const router = new Router();

  router.get('/login/:uid', async (ctx) => {
    await provider.interactionDetails(ctx.req, ctx.res);
    ctx.body = pages.login();
  });

  router.post('/login/:uid', async (ctx) => {
    await provider.interactionDetails(ctx.req, ctx.res);
    const options = { limit: maxFormBytes, encoding: 'utf8' } as const;
    const body = await getRawBody(ctx.req, options).catch(() => '');
    const result = resultOf(new URLSearchParams(body));
    if (result === undefined) {
      ctx.status = 400;
      ctx.body = pages.login('Please enter a name of up to 60 characters.');
      return;
    }
    ctx.redirect(await provider.interactionResult(ctx.req, ctx.res, result));
    ctx.status = 303;
  });

  return router.routes();
}

/** How a login ends with this form, if its name can be used. */
function resultOf(form: URLSearchParams) {
  if (form.get('action') === 'cancel') {
    return { error: 'access_denied', error_description: 'The login was cancelled.' };
  }
  const name = parseName(form.get('name') ?? '');
  return name === undefined ? undefined : { login: { accountId: accountId(name) } };
}

/** Drops control and formatting characters, and collapses spaces, if a usable name is left. */
function parseName(text: string): string | undefined {
  const name = text.toWellFormed().replace(/\s+/g, ' ').replace(/\p{C}/gu, '').trim();
  return name === '' || name.length > maxNameLength ? undefined : name;
}

/** The subject identifier of a name. It encodes the name, so the provider stores no accounts. */
function accountId(name: string): string {
  return Buffer.from(name).toString('base64url');
}

/** The name behind a subject identifier. */
export function nameOf(id: string): string {
  return Buffer.from(id, 'base64url').toString();
}

/** Lets people choose another account. The login page always does that, but the library does not know the prompt. */
export const chooseAccount: Middleware = (ctx, next) => {
  const { prompt, ...query } = ctx.query;
  if (prompt === 'select_account') ctx.query = query;
  return next();
};

/** Answers with a page whatever fails. */
export function answerFailures(pages: ProviderPages, onError: (error: Error) => void): Middleware {
  return async (ctx, next) => {
    ctx.set(headers);
    try {
      await next();
    } catch (error) {
      if (error instanceof SessionNotFound) {
        ctx.status = 400;
        ctx.body = pages.message(
          'This login is over',
          'It was finished already, took too long, or was started in another browser.',
        );
      } else if (ctx.writable) {
        onError(error instanceof Error ? error : new Error('unknown fault'));
        ctx.status = 500;
        ctx.body = pages.broken();
      }
      return;
    }
    if (ctx.status === 404 && !ctx.body) {
      ctx.status = 404;
      ctx.body = pages.message('Nothing here', 'No such page.');
    }
  };
}
