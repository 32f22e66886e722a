import { html } from './html.ts';
import { htmlPage, pagePolicy } from './html-page.ts';

/** What the popup says. */
export interface PopupTexts {
  readonly heading: string;
  /** Undefined: the heading says it all. */
  readonly detail: string | undefined;
  /** Said once the CMS has the result. */
  readonly handedOver: string;
}

/**
 * The handshake of Decap CMS and Sveltia CMS. It posts two messages, and only to the origin of the CMS: a greeting,
 * and the result once the CMS has repeated the greeting. Sveltia CMS takes any other message for the result.
 */
const script = `
(() => {
  const data = document.getElementById('messages');
  const { origin, greeting, result } = JSON.parse(data.textContent);
  data.remove();
  history.replaceState(null, '', location.pathname);
  const show = (id) => {
    for (const note of document.querySelectorAll('[data-note]')) note.hidden = note.id !== id;
  };
  const cms = window.opener;
  if (!cms || cms.closed) {
    show('no-opener');
    return;
  }
  const patience = setTimeout(show, 5000, 'no-answer');
  addEventListener('message', function answer(event) {
    if (event.source !== cms || event.origin !== origin || event.data !== greeting) return;
    removeEventListener('message', answer);
    clearTimeout(patience);
    cms.postMessage(result, origin);
    show('handed-over');
  });
  cms.postMessage(greeting, origin);
})();
`;

/** The Content-Security-Policy of the popup. */
export const popupPolicy = pagePolicy(script);

/**
 * The page in the popup of a CMS. It hands over the result of a login, and says so if it cannot.
 *
 * @param messages the origin, the greeting and the result as JSON, without characters that HTML or a script knows
 */
export function popupPage(
  messages: string,
  { heading, detail, handedOver }: PopupTexts,
  requestId: string,
): string {
  const main = html`<h1>${heading}</h1>
${detail === undefined ? '' : html`<p>${detail}</p>`}
<p data-note id="waiting">Waiting for the CMS…</p>
<p data-note id="handed-over" hidden>${handedOver}</p>
<p data-note id="no-opener" hidden>${noOpener}</p>
<p data-note id="no-answer" hidden>${noAnswer}</p>
<noscript><p>This page needs JavaScript.</p></noscript>
<small>Request ID: ${requestId}</small>`;
  const scripts = html`<script type="application/json" id="messages">${{ markup: messages }}</script>
<script>${{ markup: script }}</script>
`;
  return htmlPage(heading, main, scripts);
}

const noOpener =
  'This window has lost the page that opened it, so the CMS gets no answer. Close this window, and log in with the button of the CMS. If that fails again, the admin page or the provider sends Cross-Origin-Opener-Policy: same-origin, which separates the two windows.';

const noAnswer =
  'The CMS does not answer. Close this window, and log in with the button of the CMS. If that fails again, the admin page has another origin than the relay expects, or base_url in its config.yml is not the origin of this window.';
