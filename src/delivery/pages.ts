import type { RelayError } from '../failures/relay-error.ts';
import type { Context } from '../http/context.ts';
import { accentStyle } from './accent.ts';
import { type Content, html, htmlPage, type Markup, pagePolicy, pageStyle } from './html.ts';
import { keyOfFailure, type Label, pageTexts } from './page-texts.ts';

/** The operator's settings of the relay's pages. */
export interface PageSettings {
  /** The language of the texts. @see RFC 5646 */
  readonly lang?: string | undefined;
  readonly name?: string | undefined;
  /** A `data:` URL. */
  readonly logo?: string | undefined;
  /** As `#rrggbb`. */
  readonly colour?: string | undefined;
  /** A mail address, or the URL of a page. */
  readonly contact?: string | undefined;
  /** Replacements of the relay's own texts, by key. */
  readonly texts?: Readonly<Record<string, string | undefined>>;
}

export type Pages = ReturnType<typeof createPages>;

export function createPages(settings: PageSettings = {}) {
  const { lang = 'en', name, logo, colour, contact, texts = {} } = settings;
  const sheet = colour === undefined ? pageStyle : pageStyle + accentStyle(colour);
  const hasHeader = name !== undefined || logo !== undefined;
  const header = hasHeader
    ? html`<header>${logo && html`<img src="${logo}" alt="">`}${name && html`<span>${name}</span>`}</header>`
    : undefined;

  function fill(key: string, values: Readonly<Record<string, Content>> = {}): Markup {
    const parts = (texts[key] ?? pageTexts[key] ?? '').split(/\{(\w+)\}/);
    const filled = parts.map((part, index) => (index % 2 === 0 ? part : values[part]));
    return { markup: filled.map((part) => html`${part}`.markup).join('') };
  }

  return {
    text: (key: Label, values?: Readonly<Record<string, Content>>): Markup => fill(key, values),
    /** Tells a person what happened, and which account was refused. */
    whatHappened(failure: RelayError): Markup {
      const { person, detail } = failure;
      const key = keyOfFailure(failure);
      const inEnglish = lang === 'en' ? detail : html`<span lang="en">${detail}</span>`;
      const ofOperator = key !== undefined && texts[key] !== undefined ? fill(key) : undefined;
      const ofRelay = key === undefined ? fill('failed_otherwise', { detail: inEnglish }) : detail;
      return html`${person && html`<p>${fill('logged_in_as', { person: html`<b><bdi>${person}</bdi></b>` })}</p>`}
<p>${ofOperator ?? ofRelay}</p>`;
    },
    /** Where to ask for help, if the operator says so. */
    whomToAsk: contact && html`<p>${fill('whom_to_ask', { contact: linkOf(contact) })}</p>`,
    /** A page with this title. @param scripts elements after the content */
    page: (title: Label, main: Markup, scripts?: Markup): string =>
      htmlPage(fill(title), main, { scripts, sheet, lang, header }),
    policy: (allowed: { readonly script?: string; readonly sendsForms?: boolean } = {}): string =>
      pagePolicy({ sheet, hasImages: logo !== undefined, ...allowed }),
  };
}

/** Sets the headers of a page: its Content-Security-Policy, and that nothing on the way may change it. */
export function setPageHeaders(ctx: Context, policy: string): void {
  ctx.set('Content-Security-Policy', policy);
  // An edge that rewrites scripts or styles would break them, because their hashes are in the policy.
  ctx.set('Cache-Control', 'no-store, no-transform');
  ctx.type = 'html';
}

function linkOf(contact: string): Markup {
  const url = URL.parse(contact);
  if (url === null) return html`<a href="mailto:${contact}">${contact}</a>`;
  const { host, pathname } = url;
  return html`<a href="${url.href}">${host + pathname.replace(/\/$/, '')}</a>`;
}
