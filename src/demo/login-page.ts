import { html, pagePolicy, pageStyle, renderHtmlPage } from '../delivery/html.ts';
import { securityHeaders } from '../http/response-headers.ts';

const sheet = `${pageStyle}
:root { --accent: #3346c4; --strong: #283794; --alarm: #a3201d }
@media (prefers-color-scheme: dark) { :root { --accent: #a9b5ff; --strong: #c3cbff; --alarm: #ffa49b } }
main { border-top: 0.3rem solid var(--accent) }
main > p:first-child { margin: 0 }
label { font-weight: 600 }
input { width: 100%; padding: 0.65rem 0.75rem; font: inherit; color: inherit; background: transparent; border: 1px solid var(--soft); border-radius: 0.375rem }
form p { margin: 0 }
button[value=login] { background: var(--accent); color: var(--on-accent) }
button[value=login]:hover { background: var(--strong) }
.alarm { color: var(--alarm) }
.alarm:empty { display: none }
`;

export const pageHeaders = {
  ...securityHeaders,
  'Content-Security-Policy': pagePolicy({ sheet, sendsForms: true }),
};

/** The length of a name in UTF-16 code units, as `maxlength` of the field counts it. */
const maxNameLength = 60;

/** Returns a name without control characters and repeated spaces; undefined if it is then empty or too long. */
export function parseName(text: string): string | undefined {
  const name = text.toWellFormed().replace(/\s+/g, ' ').replace(/\p{C}/gu, '').trim();
  return name === '' || name.length > maxNameLength ? undefined : name;
}

/**
 * Renders the login form of the demo's provider.
 *
 * @param clientName names the client to which the login leads
 * @param browser the content of a hidden field, which the provider compares with a cookie, so that the form belongs to
 *   this browser
 * @param problem says what was wrong with the last name
 */
export function renderLoginPage(clientName: string, browser: string, problem = ''): string {
  const main = html`<p>Demo provider</p>
<h1>Log in</h1>
<p>to continue to <strong>${clientName}</strong></p>
<form method="post" autocomplete="off">
<input type="hidden" name="browser" value="${browser}">
<label for="name">Your name</label>
<input id="name" name="name" required maxlength="${`${maxNameLength}`}" autofocus spellcheck="false" aria-describedby="problem hint">
<p class="alarm" id="problem" role="alert">${problem}</p>
<p id="hint">Any name will do. There is no password.</p>
<button name="action" value="login">Log in</button>
<button name="action" value="cancel" formnovalidate>Cancel</button>
</form>`;
  return renderHtmlPage('Log in – Demo provider', main, { sheet });
}
