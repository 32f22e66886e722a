import { hash } from 'node:crypto';
import { commonStyle, html, type Markup } from '../delivery/html.ts';
import { securityHeaders } from '../http/response-headers.ts';

const style = `${commonStyle}
:root { --accent: #3346c4; --alarm: #a3201d }
@media (prefers-color-scheme: dark) { :root { --accent: #a9b5ff; --alarm: #ffa49b } }
main { width: min(100%, 25rem); margin: 0 auto; border-top: 0.3rem solid var(--accent) }
main > *, form > * { margin-bottom: 1rem }
label { display: block; font-weight: 600 }
input, button { width: 100%; padding: 0.65rem 0.75rem; font: inherit; color: inherit; background: transparent; border: 1px solid var(--soft); border-radius: 0.375rem }
button { font-weight: 600; cursor: pointer }
button[value=login] { color: var(--on-accent); background: var(--accent) }
.alarm { color: var(--alarm) }
`;

/** The headers of all pages. */
export const pageHeaders = {
  ...securityHeaders,
  // No form-action: browsers apply it to redirects too, and the login form's answer leads on
  // to the client and from there to wherever the client sends its users.
  'Content-Security-Policy': `${securityHeaders['Content-Security-Policy']}; style-src 'sha256-${hash('sha256', style, 'base64')}'; img-src data:; base-uri 'none'`,
};

/** The longest name that the login page takes, in UTF-16 code units. */
export const maxNameLength = 60;

/**
 * The form that a person logs in with.
 *
 * @param clientName where the login leads to
 * @param problem what was wrong with the name last sent
 */
export function loginPage(clientName: string, problem = ''): string {
  return page(
    'Log in',
    html`<p>to continue to <strong>${clientName}</strong></p>
<form method="post" autocomplete="off">
<label for="name">Your name</label>
<input id="name" name="name" required maxlength="${`${maxNameLength}`}" autofocus spellcheck="false" aria-describedby="problem hint">
<p class="alarm" id="problem" role="alert">${problem}</p>
<p id="hint">Any name will do. There is no password.</p>
<button name="action" value="login">Log in</button>
<button name="action" value="cancel" formnovalidate>Cancel</button>
</form>`,
  );
}

/** A page that says one thing. */
export const messagePage = (title: string, text: string) => page(title, html`<p>${text}</p>`);

/** The page for an error of the provider itself. */
export const brokenPage = messagePage('The demo provider failed', 'Please start again.');

function page(title: string, body: Markup): string {
  return html`<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title} – Demo provider</title>
<link rel="icon" href="data:,">
<style>${{ markup: style }}</style>
<main>
<p>Demo provider</p>
<h1>${title}</h1>
${body}
</main>
</html>
`.markup;
}
