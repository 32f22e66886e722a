import { hash } from 'node:crypto';
import { commonStyle, html, type Markup } from '../delivery/html.ts';

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

/** The `style-src` source that allows the pages' one style sheet. */
export const styleSource = `'sha256-${hash('sha256', style, 'base64')}'`;

/** The longest name that the login page takes, in UTF-16 code units. */
export const maxNameLength = 60;

/** The pages of a provider. */
export type ProviderPages = ReturnType<typeof createProviderPages>;

/**
 * Creates the pages of a provider.
 *
 * @param clientName where a login leads to
 */
export function createProviderPages(clientName: string) {
  const message = (title: string, text: string) =>
    page(title, html`<h1>${title}</h1>\n<p>${text}</p>`);
  return {
    /** The form a person logs in with, and what was wrong with the name last sent. */
    login: (problem = '') => page('Log in', loginForm(clientName, problem)),
    /** A page that says one thing. */
    message,
    /** The page for an error of the provider itself. */
    broken: () => message('The demo provider failed', 'Please start again.'),
  };
}

function loginForm(clientName: string, problem: string): Markup {
  return html`<h1>Log in</h1>
<p>to continue to <strong>${clientName}</strong></p>
<form method="post" autocomplete="off">
<label for="name">Your name</label>
<input id="name" name="name" required maxlength="${`${maxNameLength}`}" autofocus spellcheck="false" aria-describedby="problem hint">
<p class="alarm" id="problem" role="alert">${problem}</p>
<p id="hint">Any name will do. There is no password.</p>
<button name="action" value="login">Log in</button>
<button name="action" value="cancel" formnovalidate>Cancel</button>
</form>`;
}

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
${body}
</main>
</html>
`.markup;
}
