import { hash } from 'node:crypto';
import { securityHeaders } from '../http/response-headers.ts';

/** Text in which all that must be escaped is escaped. */
export interface Markup {
  readonly markup: string;
}

/** The content of a page. Each item of a list is on a line of its own. */
export type Content = string | Markup | undefined | readonly Content[];

const entities: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

/** Escapes text for element content and for quoted attribute values, in HTML and in SVG. */
function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (character) => entities[character] ?? '');
}

/** A template tag that escapes every value except {@link Markup}. */
export function html(strings: TemplateStringsArray, ...values: Content[]): Markup {
  return { markup: strings.map((string, index) => string + toMarkup(values[index])).join('') };
}

function toMarkup(content: Content): string {
  if (content === undefined) return '';
  if (typeof content === 'string') return escapeHtml(content);
  return 'markup' in content ? content.markup : content.map(toMarkup).join('\n');
}

/** The colours and fonts of the relay's pages and the demo. The two values of `--sheet` are also in `accent.ts`. */
export const commonStyle = `
:root { color-scheme: light dark; --ground: #f3f0e8; --sheet: #fffdf8; --ink: #1c2420; --soft: #58625b; --line: #ddd7c8; --accent: #0f6b55; --strong: #0b5544; --on-accent: #fff; --serif: ui-serif, 'Iowan Old Style', Palatino, Georgia, serif }
@media (prefers-color-scheme: dark) {
  :root { --ground: #121715; --sheet: #1a211e; --ink: #ebeee7; --soft: #a7b1a9; --line: #303a35; --accent: #84d8bc; --strong: #a3e5cf; --on-accent: #08281f }
}
* { box-sizing: border-box; margin: 0 }
body { min-height: 100svh; padding: 1rem; background: var(--ground); color: var(--ink); font: 1rem/1.6 system-ui, sans-serif; overflow-wrap: anywhere }
main { padding: clamp(1.25rem, 6vw, 2.5rem); background: var(--sheet); border: 1px solid var(--line); border-radius: 1rem }
h1 { font: 500 clamp(1.625rem, 6vw, 2.125rem)/1.15 var(--serif); text-wrap: balance }
a { color: var(--accent); text-underline-offset: 0.2em }
:focus-visible { outline: 3px solid var(--accent); outline-offset: 3px }
@media (min-width: 40rem) { body { padding-top: clamp(1.5rem, 10svh, 8rem) } }
`;

/**
 * The style sheet of the relay's own pages. In a `nav` with `data-login`, the first link starts a login, and looks like
 * a button. An element with `data-late` appears after two seconds, unless a script hides it until then.
 */
export const pageStyle = `${commonStyle}
body { display: grid; align-content: start; justify-items: center }
main { width: min(100%, 28rem) }
p { margin-top: 1rem }
header { margin-bottom: 1.25rem; display: flex; align-items: center; gap: 0.75rem; color: var(--soft); font-weight: 600 }
header img { max-width: 8rem; height: 2.5rem; object-fit: contain }
nav { margin-top: 1.75rem; display: flex; flex-wrap: wrap; align-items: center; gap: 1rem 1.5rem }
nav[data-login] a:first-child { padding: 0.75rem 1.25rem; border-radius: 0.5rem; background: var(--accent); color: var(--on-accent); font-weight: 600; text-align: center; text-decoration: none; text-wrap: balance }
nav[data-login] a:first-child:hover { background: var(--strong) }
@media (max-width: 30rem) { nav[data-login] a:first-child { flex-basis: 100%; padding-inline: 0.5rem } }
dl { margin-top: 1rem }
dt { color: var(--soft); font-size: 0.875rem }
dd { margin-bottom: 0.5rem; font-weight: 600; line-height: 1.4 }
dd code, dd span { color: var(--soft); font-size: 0.875rem; font-weight: 400 }
dd span { display: block; margin-top: 0.25rem }
dd [data-warning] { padding-inline-start: 0.625rem; border-inline-start: 4px solid var(--accent); color: var(--ink) }
dd i { color: var(--soft); font-style: normal; font-weight: 400 }
dd b { display: inline-block; font-weight: inherit }
dd kbd { padding: 0 0.375rem; border: 2px solid var(--accent); border-radius: 0.25rem; color: var(--ink) }
dl[data-lead] dd { font-size: 1.25rem; line-height: 1.3 }
ul { padding: 0; list-style: none }
#unread { display: block; margin-bottom: 0.5rem; padding-inline-start: 0.625rem; border-inline-start: 4px solid var(--accent); color: var(--ink); font: 600 1rem/1.4 system-ui, sans-serif }
[hidden] { display: none !important }
[data-late] { animation: late 2s }
@keyframes late { from, to { visibility: hidden } }
[data-asked]:focus { outline: none }
form p { flex-basis: 100% }
form { margin-top: 1.25rem; display: flex; flex-wrap: wrap; gap: 0.75rem }
button { flex: 1 1 7rem; padding: 0.75rem 1.25rem; border: 1px solid var(--accent); border-radius: 0.5rem; background: none; color: var(--accent); font: inherit; font-weight: 600; overflow-wrap: break-word; cursor: pointer }
button:hover { outline: 1px solid var(--accent) }
form[data-choice] { flex-direction: column }
form[data-choice] button { flex-basis: auto; text-wrap: balance }
button[data-last] { background: var(--accent); color: var(--on-accent) }
button[data-last]:hover { background: var(--strong) }
small { display: block; margin-top: 1.75rem; padding-top: 1.25rem; border-top: 1px solid var(--line); color: var(--soft); font-size: 0.875rem }
`;

/**
 * The Content-Security-Policy of a page of {@link renderHtmlPage}.
 *
 * @param allowed.sheet the only style sheet
 * @param allowed.script the only script
 * @param allowed.hasImages whether images are allowed, as `data:` URLs. A script in an image does not run
 * @param allowed.sendsForms whether the page has a form. Then the policy has no `form-action`, because browsers also
 *   apply it to the redirects after the form, and the relay does not know where the provider redirects to
 * @param allowed.isFramed whether pages of the same origin may show the page in a frame
 */
export function pagePolicy({
  sheet = pageStyle,
  script,
  hasImages = false,
  sendsForms = false,
  isFramed = false,
}: {
  readonly sheet?: string;
  readonly script?: string;
  readonly hasImages?: boolean;
  readonly sendsForms?: boolean;
  readonly isFramed?: boolean;
} = {}): string {
  const common = isFramed ? "default-src 'none'; frame-ancestors 'self'" : securityHeaders['Content-Security-Policy'];
  const directives = [common, `style-src ${hashSource(sheet)}`];
  if (hasImages) directives.push('img-src data:');
  if (script !== undefined) directives.push(`script-src ${hashSource(script)}`);
  directives.push("base-uri 'none'");
  if (!sendsForms) directives.push("form-action 'none'");
  return directives.join('; ');
}

/** The source of a script or style sheet in a policy. @see https://www.w3.org/TR/CSP3/#grammardef-hash-source */
function hashSource(text: string): string {
  return `'sha256-${hash('sha256', text, 'base64')}'`;
}

/** Renders a page for people. @param parts.scripts elements after the content */
export function renderHtmlPage(
  title: Content,
  main: Markup,
  parts: {
    readonly scripts?: Markup | undefined;
    readonly sheet?: string;
    readonly lang?: string;
    readonly header?: Markup | undefined;
  } = {},
): string {
  const { scripts, sheet = pageStyle, lang = 'en', header } = parts;
  // `dir="auto"` takes the direction from the title, which is in the language of the page, such as Arabic or Hebrew.
  return html`<!doctype html>
<html lang="${lang}" dir="auto">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title}</title>
<style>${{ markup: sheet }}</style>
<main>
${header}${main}
</main>
${scripts}</html>
`.markup;
}
