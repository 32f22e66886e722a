import { hash } from 'node:crypto';
import type { FailureCode, RelayError } from '../errors.ts';
import type { Context } from '../http/context.ts';
import type { AnswerFailure } from '../http/error-responder.ts';
import { answerJson, answerWith } from '../http/error-responder.ts';
import { securityHeaders } from '../http/response-headers.ts';
import { html } from './html.ts';
import { loginAgainUrl } from './login-again.ts';

/** The addresses that the failure page links to. */
interface Targets {
  /** The route that starts a login, and begins the route of its callback. */
  readonly loginRoute: string;
  /** The public address that starts the front end's login. Undefined: no link can start it. */
  readonly loginUrl: string | undefined;
  readonly origin: string;
  /** The front end's page, inside the origin. Undefined: it has several origins. */
  readonly frontendUrl: string | undefined;
}

/**
 * Answers failures with a page for people, and with JSON for programs. People are the navigations that
 * accept HTML, except on the routes that programs call: the user lookup and health.
 */
export function failurePage(targets: Targets): AnswerFailure {
  return (ctx, failure) => {
    const route = matchedRoute(ctx);
    if (route !== undefined && !route.startsWith(targets.loginRoute)) {
      answerJson(ctx, failure);
      return;
    }
    ctx.vary('Accept, Sec-Fetch-Mode');
    if (!isNavigation(ctx)) {
      answerJson(ctx, failure);
      return;
    }
    const { loginRoute, loginUrl } = targets;
    const again = loginUrl && loginAgainUrl(ctx, route, loginRoute, loginUrl);
    ctx.set('Content-Security-Policy', contentSecurityPolicy);
    answerWith(ctx, failure, page(failure, again, targets, ctx.state.requestId));
    ctx.type = 'html';
  };
}

function matchedRoute(ctx: Context): string | undefined {
  const route: unknown = ctx['_matchedRoute'];
  return typeof route === 'string' ? route : undefined;
}

/**
 * Whether a person will see the answer. Browsers send no `Sec-Fetch-Mode` over plain http beyond this
 * machine; there, `Accept` has to do.
 *
 * @see https://www.w3.org/TR/fetch-metadata/
 */
function isNavigation(ctx: Context): boolean {
  const mode = ctx.get('Sec-Fetch-Mode');
  return (mode === '' || mode === 'navigate') && ctx.accepts('json', 'html') === 'html';
}

const headings: Readonly<Partial<Record<FailureCode, string>>> = {
  access_denied: 'Login cancelled',
  state_finished: 'Login already finished',
  state_expired: 'Login expired',
  not_found: 'Page not found',
};

const style = `
:root { color-scheme: light dark; --ground: #f3f0e8; --sheet: #fffdf8; --ink: #1c2420; --soft: #58625b; --line: #ddd7c8; --accent: #0f6b55; --strong: #0b5544; --on-accent: #fff }
@media (prefers-color-scheme: dark) {
  :root { --ground: #121715; --sheet: #1a211e; --ink: #ebeee7; --soft: #a7b1a9; --line: #303a35; --accent: #84d8bc; --strong: #a3e5cf; --on-accent: #08281f }
}
* { box-sizing: border-box; margin: 0 }
body { min-height: 100svh; padding: clamp(1.5rem, 16svh, 9rem) 1.25rem 1.5rem; display: grid; align-content: start; justify-items: center; background: var(--ground); color: var(--ink); font: 1rem/1.6 system-ui, sans-serif; overflow-wrap: anywhere }
main { width: min(100%, 28rem); padding: clamp(1.5rem, 7vw, 2.5rem); background: var(--sheet); border: 1px solid var(--line); border-radius: 1rem }
h1 { font: 500 clamp(1.75rem, 7vw, 2.25rem)/1.15 ui-serif, 'Iowan Old Style', Palatino, Georgia, serif; text-wrap: balance }
p { margin-top: 1rem }
nav { margin-top: 1.75rem; display: flex; flex-wrap: wrap; align-items: center; gap: 1rem 1.5rem }
a { color: var(--accent); text-underline-offset: 0.2em }
a:first-child { padding: 0.75rem 1.5rem; border-radius: 0.5rem; background: var(--accent); color: var(--on-accent); font-weight: 600; text-decoration: none }
a:first-child:hover { background: var(--strong) }
:focus-visible { outline: 3px solid var(--accent); outline-offset: 3px }
small { display: block; margin-top: 1.75rem; padding-top: 1.25rem; border-top: 1px solid var(--line); color: var(--soft); font-size: 0.875rem }
`;

const contentSecurityPolicy = [
  securityHeaders['Content-Security-Policy'],
  `style-src 'sha256-${hash('sha256', style, 'base64')}'`,
  "base-uri 'none'",
  "form-action 'none'",
].join('; ');

function page(
  { code, detail }: RelayError,
  again: string | undefined,
  { frontendUrl, origin }: Targets,
  requestId: string,
): string {
  const heading = headings[code] ?? 'Login failed';
  const links = [
    again && html`<a href="${again}">Log in again</a>`.markup,
    frontendUrl && html`<a href="${frontendUrl}">Back to ${origin}</a>`.markup,
  ].filter((link) => link !== undefined);
  const nav = { markup: links.length === 0 ? '' : `<nav>${links.join(' ')}</nav>` };
  return html`<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${heading}</title>
<style>${{ markup: style }}</style>
<main>
<h1>${heading}</h1>
<p>${detail}</p>
${nav}
<small>Request ID: ${requestId}</small>
</main>
</html>
`.markup;
}
