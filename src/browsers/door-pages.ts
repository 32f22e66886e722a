import { html } from '../delivery/html.ts';
import { type Pages, setPageHeaders } from '../delivery/pages.ts';
import type { Context } from '../http/context.ts';
import { doorPaths } from '../paths.ts';

/** A question to a person about the provider of their login. */
export interface Choice {
  readonly site: string;
  /** What the form sends back besides the choice. */
  readonly kept: Readonly<Partial<Record<'state' | 'prompt', string>>>;
  /** The names of registrations with those of their providers for people. */
  readonly providers: readonly { readonly name: string; readonly title: string }[];
  /** The name of the registration that this person chose last time. */
  readonly last: string | undefined;
}

/** Asks with which provider to log in. It needs no script. */
export function showChoice(ctx: Context, pages: Pages, { site, kept, providers, last }: Choice): void {
  const lastFirst = [
    ...providers.filter(({ name }) => name === last),
    ...providers.filter(({ name }) => name !== last),
  ];
  const fields = Object.entries(kept).map(
    ([name, value]) => html`<input type="hidden" name="${name}" value="${value}">`,
  );
  const buttons = lastFirst.map(({ name, title }) => {
    const words = pages.text('log_in_with', { provider: html`<bdi>${title}</bdi>` });
    const mark = name === last ? html` data-last` : undefined;
    return html`<button name="provider" value="${name}"${mark}>${words}</button>`;
  });
  const main = html`<h1>${pages.text('choose_heading')}</h1>
<p>${pages.text('choose_about', { site })}</p>
<form method="post" action="${doorPaths.choose}" data-choice>
${fields}
${buttons}
</form>`;
  ctx.body = pages.render('choose_heading', main);
  setFormHeaders(ctx, pages);
}

/**
 * Goes on to the login, with the fragment of this page's address, as a redirect would. A window that a script has
 * opened would lose its opener at the login. So in such a window, the script reloads the page instead of renewing the
 * login. Then the renewal counts as under way (`isRenewing` in door-logins.ts), and the old cookie opens the page of
 * the application. If the reload leads to this page again, the script goes on to the login, because it would otherwise
 * reload the page forever.
 */
const goOnScript = `
const link = document.querySelector('nav a');
const isReload = performance.getEntriesByType('navigation')[0]?.type === 'reload';
if (opener !== null && 'renewal' in link.dataset && !isReload) location.reload();
else location.replace(link.href + location.hash);
`;

/**
 * Leads to a login by a page instead of a redirect. If the page of an application has `form-action` in its policy,
 * Chromium and WebKit also apply it to redirects. After a form was sent there, they would block the redirect to the
 * login, and the person would see nothing at all, although the application may have accepted the form.
 *
 * @param address where the login starts
 * @see https://www.w3.org/TR/CSP3/#directive-form-action
 */
export function showWayToLogin(
  ctx: Context,
  pages: Pages,
  { site, address, isRenewal }: { readonly site: string; readonly address: string; readonly isRenewal: boolean },
): void {
  const mark = isRenewal ? html` data-renewal` : undefined;
  const main = html`<h1>${pages.text('choose_heading')}</h1>
<p>${pages.text('login_ahead', { site })}</p>
<nav data-login><a href="${address}"${mark}>${pages.text('go_to_login')}</a></nav>`;
  const scripts = html`<script data-cfasync="false">${{ markup: goOnScript }}</script>\n`;
  ctx.body = pages.render('choose_heading', main, scripts);
  setPageHeaders(ctx, pages.policy({ script: goOnScript }));
}

/** Asks before a logout, because any page may contain the link. */
export function showLogoutQuestion(ctx: Context, pages: Pages, site: string): void {
  const main = html`<h1>${pages.text('log_out_heading')}</h1>
<p>${pages.text('log_out_about', { site })}</p>
<form method="post" action="${doorPaths.logout}"><button>${pages.text('log_out')}</button></form>`;
  ctx.body = pages.render('log_out_heading', main);
  setFormHeaders(ctx, pages);
}

/**
 * Tells a person that they are logged out.
 *
 * @param isFramed whether a page of the application shows the page in a frame, where any other answer would be blank.
 *   Then the link opens a tab, because the page around the frame may hold something that is not saved yet
 */
export function showLoggedOut(ctx: Context, pages: Pages, site: string, isFramed = false): void {
  const link = isFramed
    ? html`<a href="/" target="_blank" rel="noopener">${pages.text('log_in_elsewhere')}</a>`
    : html`<a href="/">${pages.text('log_in_again')}</a>`;
  const main = html`<h1>${pages.text('logged_out_heading')}</h1>
<p>${pages.text('logged_out_about', { site })}</p>
<nav data-login>${link}</nav>`;
  ctx.body = pages.render('logged_out_heading', main);
  setPageHeaders(ctx, pages.policy({ isFramed }));
}

function setFormHeaders(ctx: Context, pages: Pages): void {
  setPageHeaders(ctx, pages.policy({ sendsForms: true }));
  // Without a referrer, old browsers would send the form with `Origin: null`, which is refused as foreign.
  ctx.set('Referrer-Policy', 'same-origin');
}
