import type { Middleware } from 'koa';
import { SessionNotFound } from 'oidc-provider/lib/helpers/errors.js';
import type { Provider } from 'oidc-provider/lib/provider.js';
import getRawBody from 'raw-body';
import {
  brokenPage,
  loginPage,
  maxNameLength,
  messagePage,
  pageHeaders,
} from './provider-pages.ts';

/** A form of the login page is shorter. */
const maxFormBytes = 4096;

/**
 * Lets people log in.
 *
 * @param clientName where a login leads to
 */
export function serveLogin(provider: Provider, clientName: string): Middleware {
  return async (ctx, next) => {
    if (!ctx.path.startsWith('/login/') || !['GET', 'POST'].includes(ctx.method)) return next();
    await provider.interactionDetails(ctx.req, ctx.res);
    if (ctx.method === 'GET') {
      ctx.body = loginPage(clientName);
      return;
    }
    const options = { limit: maxFormBytes, encoding: 'utf8' } as const;
    const form = new URLSearchParams(await getRawBody(ctx.req, options).catch(() => ''));
    const name = parseName(form.get('name') ?? '');
    const isCancelled = form.get('action') === 'cancel';
    if (name === undefined && !isCancelled) {
      ctx.status = 400;
      ctx.body = loginPage(clientName, 'Please enter a name of up to 60 characters.');
      return;
    }
    const result = isCancelled
      ? { error: 'access_denied', error_description: 'The login was cancelled.' }
      : { login: { accountId: accountId(name ?? '') } };
    ctx.redirect(await provider.interactionResult(ctx.req, ctx.res, result));
    ctx.status = 303;
  };
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
export function answerFailures(onError: (error: Error) => void): Middleware {
  return async (ctx, next) => {
    const answer = (status: number, page: string) => {
      ctx.status = status;
      ctx.body = page;
    };
    ctx.set(pageHeaders);
    try {
      await next();
      if (ctx.status === 404 && !ctx.body)
        answer(404, messagePage('Nothing here', 'No such page.'));
    } catch (error) {
      if (error instanceof SessionNotFound) {
        const text = 'It was finished already, took too long, or was started in another browser.';
        answer(400, messagePage('This login is over', text));
      } else if (ctx.writable) {
        onError(error instanceof Error ? error : new Error('unknown fault'));
        answer(500, brokenPage);
      }
    }
  };
}
