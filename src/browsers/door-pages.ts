import { html } from '../delivery/html.ts';
import { type Pages, setPageHeaders } from '../delivery/pages.ts';
import type { Context } from '../http/context.ts';
import { doorPaths } from '../paths.ts';

/** Asks before a logout, because any page may contain the link. */
export function showLogoutQuestion(ctx: Context, pages: Pages, site: string): void {
  const main = html`<h1>${pages.text('log_out_heading')}</h1>
<p>${pages.text('log_out_about', { site })}</p>
<form method="post" action="${doorPaths.logout}"><button>${pages.text('log_out')}</button></form>`;
  ctx.body = pages.page('log_out_heading', main);
  setPageHeaders(ctx, pages.policy({ sendsForms: true }));
  // Without a referrer, old browsers would send the form with `Origin: null`, which is refused as foreign.
  ctx.set('Referrer-Policy', 'same-origin');
}

export function showLoggedOut(ctx: Context, pages: Pages, site: string): void {
  const main = html`<h1>${pages.text('logged_out_heading')}</h1>
<p>${pages.text('logged_out_about', { site })}</p>
<nav data-login><a href="/">${pages.text('log_in_again')}</a></nav>`;
  ctx.body = pages.page('logged_out_heading', main);
  setPageHeaders(ctx, pages.policy());
}
