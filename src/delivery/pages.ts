import type { RelayError } from '../failures/relay-error.ts';
import type { Context } from '../http/context.ts';
import { accentStyle } from './accent.ts';
import { type Content, html, htmlPage, type Markup, pagePolicy, pageStyle } from './html.ts';
import { keyOfFailure, type Label, pageTexts } from './page-texts.ts';

/** What the operator says about the relay's pages. */
export interface PageSettings {
  /** The language of the texts. @see RFC 5646 */
  readonly lang?: string | undefined;
  readonly name?: string | undefined;
  /** A `data:` URL. */
  readonly logo?: string | undefined;
  /** As `#rrggbb`. */
  readonly colour?: string | undefined;
  /** Whom people may ask: a mail address, or the URL of a page. */
  readonly contact?: string | undefined;
  /** Texts in place of the relay's own, by their keys. */
  readonly texts?: Readonly<Record<string, string | undefined>>;
}

/** How the relay's own pages look and speak. */
export type Pages = ReturnType<typeof createPages>;

/** Creates the pages as the operator wants them. */
export function createPages(settings: PageSettings = {}) {
  const { lang = 'en', name, logo, colour, contact, texts = {} } = settings;
  const sheet = colour === undefined ? pageStyle : pageStyle + accentStyle(colour);
  const hasHeader = name !== undefined || logo !== undefined;
  const header = hasHeader
    ? html`<header>${logo && html`<img src="${logo}" alt="">`}${name && html`<span>${name}</span>`}</header>`
    : undefined;

  /** A text with its placeholders filled in. */
  function fill(key: string, values: Readonly<Record<string, Content>> = {}): Markup {
    const parts = (texts[key] ?? pageTexts[key] ?? '').split(/\{(\w+)\}/);
    const filled = parts.map((part, index) => (index % 2 === 0 ? part : values[part]));
    return { markup: filled.map((part) => html`${part}`.markup).join('') };
  }

  return {
    text: (key: Label, values?: Readonly<Record<string, Content>>): Markup => fill(key, values),
    /** Says to a person who they are, if the failure is about that, and what happened. */
    whatHappened(failure: RelayError): Markup {
      const { person, detail } = failure;
      const key = keyOfFailure(failure);
      const inEnglish = lang === 'en' ? detail : html`<span lang="en">${detail}</span>`;
      const ofOperator = key !== undefined && texts[key] !== undefined ? fill(key) : undefined;
      const ofRelay = key === undefined ? fill('failed_otherwise', { detail: inEnglish }) : detail;
      return html`${person && html`<p>${fill('logged_in_as', { person: html`<b><bdi>${person}</bdi></b>` })}</p>`}
<p>${ofOperator ?? ofRelay}</p>`;
    },
    /** Whom to ask, if the operator says so. */
    whomToAsk: contact && html`<p>${fill('whom_to_ask', { contact: linkOf(contact) })}</p>`,
    /** A page with this title. @param scripts elements after the content */
    page: (title: Label, main: Markup, scripts?: Markup): string =>
      htmlPage(fill(title), main, { scripts, sheet, lang, header }),
    /** The Content-Security-Policy of a page. */
    policy: (allowed: { readonly script?: string; readonly sendsForms?: boolean } = {}): string =>
      pagePolicy({ sheet, hasImages: logo !== undefined, ...allowed }),
  };
}

/** Says how a page may be used: by which Content-Security-Policy, and that nothing on its way may change it. */
export function setPageHeaders(ctx: Context, policy: string): void {
  ctx.set('Content-Security-Policy', policy);
  // An edge that rewrites scripts or styles would break those of the page, whose hashes are in its policy.
  ctx.set('Cache-Control', 'no-store, no-transform');
  ctx.type = 'html';
}

function linkOf(contact: string): Markup {
  const url = URL.parse(contact);
  if (url === null) return html`<a href="mailto:${contact}">${contact}</a>`;
  const { host, pathname } = url;
  return html`<a href="${url.href}">${host + pathname.replace(/\/$/, '')}</a>`;
}
