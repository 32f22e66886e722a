import { hash } from 'node:crypto';
import { html, type Markup } from '../delivery/html.ts';

const style = `
:root { color-scheme: light dark; --ground: #e9edf5; --sheet: #fff; --ink: #161b2c; --soft: #525b73;
  --line: #c8d0e0; --field: #79839c; --accent: #3346c4; --on-accent: #fff; --alarm: #a3201d; }
@media (prefers-color-scheme: dark) { :root { --ground: #0f1320; --sheet: #191f30; --ink: #e9ecf5;
  --soft: #a5aec4; --line: #323a50; --field: #77819b; --accent: #a9b5ff; --on-accent: #121736;
  --alarm: #ffa49b; } }
* { box-sizing: border-box; }
body { margin: 0; min-height: 100svh; display: grid; place-items: center; padding: 1.5rem;
  background: var(--ground); color: var(--ink); font: 1rem/1.55 system-ui, sans-serif; }
main { width: min(100%, 25rem); padding: 2rem; background: var(--sheet); overflow-wrap: anywhere;
  border: 1px solid var(--line); border-radius: .5rem;
  box-shadow: inset 0 .3rem var(--accent); }
.brand { margin: 0 0 1.75rem; color: var(--soft); font-size: .875rem; }
h1 { margin: 0 0 .5rem; font-size: 1.5rem; line-height: 1.25; }
p { margin: 0 0 1rem; }
label { display: block; margin: 1.5rem 0 .35rem; font-weight: 600; }
input { width: 100%; padding: .65rem .75rem; font: inherit; color: inherit; background: transparent;
  border: 1px solid var(--field); border-radius: .375rem; }
.hint { margin: .4rem 0 0; color: var(--soft); font-size: .875rem; }
.alarm { margin: .4rem 0 0; color: var(--alarm); }
.actions { display: flex; flex-wrap: wrap; gap: .75rem; margin-top: 1.5rem; }
button { padding: .65rem 1.25rem; font: inherit; font-weight: 600; cursor: pointer; color: inherit;
  background: transparent; border: 1px solid var(--field); border-radius: .375rem; }
button.primary { flex: 1; color: var(--on-accent); background: var(--accent);
  border-color: var(--accent); }
a { color: var(--accent); }
:focus-visible { outline: 3px solid var(--accent); outline-offset: 2px; }
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
 * @param look.brand their heading
 * @param look.clientName where a login leads to
 * @param look.homeUrl where the reader of a message can go on
 */
export function createProviderPages(look: {
  readonly brand: string;
  readonly clientName: string;
  readonly homeUrl: string | undefined;
}) {
  const { brand, clientName, homeUrl } = look;
  const message = (title: string, text: string) => {
    const link =
      homeUrl === undefined ? '' : html`<p><a href="${homeUrl}">Back to the application</a></p>`;
    return page(brand, title, html`<h1>${title}</h1><p>${text}</p>${link}`);
  };
  return {
    /** The form a person logs in with, and what was wrong with the name last sent. */
    login: (problem?: string) => page(brand, 'Log in', loginForm(clientName, problem)),
    /** A page that says one thing. */
    message,
    /** The page for an error of the provider itself. */
    broken: () => message('The demo provider failed', 'Please start again.'),
  };
}

function loginForm(clientName: string, problem: string | undefined): Markup {
  const alarm =
    problem === undefined ? '' : html`<p class="alarm" id="problem" role="alert">${problem}</p>`;
  return html`<h1>Log in</h1>
<p>to continue to <strong>${clientName}</strong></p>
<form method="post" autocomplete="off">
<label for="name">Your name</label>
<input id="name" name="name" required maxlength="${`${maxNameLength}`}" autofocus spellcheck="false"
  autocapitalize="off" aria-describedby="${problem === undefined ? '' : 'problem '}hint">
${alarm}<p class="hint" id="hint">Any name will do. There is no password.</p>
<div class="actions">
<button class="primary" name="action" value="login">Log in</button>
<button name="action" value="cancel" formnovalidate>Cancel</button>
</div>
</form>`;
}

function page(brand: string, title: string, body: Markup): string {
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex">
<title>${title} – ${brand}</title>
<link rel="icon" href="data:,">
<style>${{ markup: style }}</style>
</head>
<body>
<main>
<p class="brand">${brand}</p>
${body}
</main>
</body>
</html>
`.markup;
}
