import type { RelayError } from '../failures/relay-error.ts';
import type { Context } from '../http/context.ts';
import { accentStyle } from './accent.ts';
import { type Content, html, type Markup, pagePolicy, pageStyle, renderHtmlPage } from './html.ts';
import { keyOfFailure, type Label, pageTexts } from './page-texts.ts';

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

/** Creates what the relay's pages share: texts, style sheet, header and policy. */
export function createPages(settings: PageSettings = {}) {
  const { lang = 'en', name, logo, colour, contact, texts = {} } = settings;
  const sheet = colour === undefined ? pageStyle : pageStyle + accentStyle(colour);
  const hasHeader = name !== undefined || logo !== undefined;
  const header = hasHeader
    ? html`<header>${logo && html`<img src="${logo}" alt="">`}${name && html`<span>${name}</span>`}</header>`
    : undefined;

  /** The text of a key, with the values in place of the words in braces. */
  function fill(key: string, values: Readonly<Record<string, Content>> = {}): Markup {
    const text = texts[key] ?? pageTexts[key] ?? '';
    // Every second part is a word in braces.
    const parts = text.split(/\{(\w+)\}/).map((part, index) => (index % 2 === 0 ? part : values[part]));
    return { markup: parts.map((part) => html`${part}`.markup).join('') };
  }

  return {
    text: (key: Label, values?: Readonly<Record<string, Content>>): Markup => fill(key, values),
    /** Tells a person what happened, and which account was refused. */
    describeFailure(failure: RelayError): Markup {
      const { person, detail } = failure;
      const key = keyOfFailure(failure);
      const detailInEnglish = lang === 'en' ? detail : html`<span lang="en">${detail}</span>`;
      const operatorText = key !== undefined && texts[key] !== undefined ? fill(key) : undefined;
      // The relay's own text of a failure for people is its detail. Other details are for developers, and in English.
      const relayText = key === undefined ? fill('failed_otherwise', { detail: detailInEnglish }) : detail;
      return html`${person && html`<p>${fill('logged_in_as', { person: html`<b><bdi>${person}</bdi></b>` })}</p>`}
<p>${operatorText ?? relayText}</p>`;
    },
    /** The line that tells where to ask for help; undefined if the operator does not say. */
    whomToAsk: contact && html`<p>${fill('whom_to_ask', { contact: linkContact(contact) })}</p>`,
    /** Renders a page. @param scripts elements after the content */
    render: (title: Label, main: Markup, scripts?: Markup): string =>
      renderHtmlPage(fill(title), main, { scripts, sheet, lang, header }),
    policy: (
      allowed: { readonly script?: string; readonly sendsForms?: boolean; readonly isFramed?: boolean } = {},
    ): string => pagePolicy({ sheet, hasImages: logo !== undefined, ...allowed }),
  };
}

/** Sets the headers of a page. @param policy its Content-Security-Policy */
export function setPageHeaders(ctx: Context, policy: string): void {
  ctx.set('Content-Security-Policy', policy);
  // `no-transform`, because the policy has hashes of scripts and styles: if a proxy rewrote these, they would not work.
  ctx.set('Cache-Control', 'no-store, no-transform');
  ctx.type = 'html';
}

/** Links a mail address, or the URL of a page, which is shown without its scheme. */
function linkContact(contact: string): Markup {
  const url = URL.parse(contact);
  if (url === null) return html`<a href="mailto:${contact}">${contact}</a>`;
  const { host, pathname } = url;
  return html`<a href="${url.href}">${host + pathname.replace(/\/$/, '')}</a>`;
}
