import { html, htmlPage, type Markup, pagePolicy, pageStyle } from '../delivery/html.ts';
import { securityHeaders } from '../http/response-headers.ts';

const sheet = `${pageStyle}
:root { --accent: #3346c4; --strong: #283794; --alarm: #a3201d }
@media (prefers-color-scheme: dark) { :root { --accent: #a9b5ff; --strong: #c3cbff; --alarm: #ffa49b } }
main { border-top: 0.3rem solid var(--accent) }
main > p:first-child { margin: 0 }
label { font-weight: 600 }
input { width: 100%; padding: 0.65rem 0.75rem; font: inherit; color: inherit; background: transparent; border: 1px solid var(--soft); border-radius: 0.375rem }
form p { margin: 0 }
.alarm { color: var(--alarm) }
.alarm:empty { display: none }
`;

/** The headers of all pages. */
export const pageHeaders = {
  ...securityHeaders,
  'Content-Security-Policy': pagePolicy({ sheet, sendsForms: true }),
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
  const main = html`<p>Demo provider</p>\n<h1>${title}</h1>\n${body}`;
  return htmlPage(`${title} – Demo provider`, main, undefined, sheet);
}
