import type { RelayError } from '../errors.ts';
import type { Context } from '../http/context.ts';
import { forbidReading } from '../http/cors.ts';
import { answerWith } from '../http/error-responder.ts';
import type { Delivery } from '../login/front-end.ts';
import { failureHeading } from './failure-page.ts';
import { html, htmlPage, pagePolicy } from './html.ts';

/** The CMS of a front end. */
interface Cms {
  /** Its `backend.name`: the messages carry it. */
  readonly backend: string;
  /** The origin of its admin page: no other page gets a message. */
  readonly origin: string;
}

/**
 * The delivery to Decap CMS and Sveltia CMS: exchanges the code, and answers with the page in their popup, which
 * hands the token or the failure over by `postMessage`.
 *
 * @see https://decapcms.org/docs/external-oauth-clients/
 */
export function cmsDelivery({ backend, origin }: Cms): Delivery {
  const page = (ctx: Context, outcome: string, content: object, texts: PopupTexts) => {
    ctx.set('Content-Security-Policy', popupPolicy);
    const result = `authorization:${backend}:${outcome}:${asciiJson(content)}`;
    const messages = { origin, greeting: `authorizing:${backend}`, result };
    return popupPage(asciiJson(messages), texts, ctx.state.requestId);
  };
  return {
    redirects: false,
    async succeed(ctx, { exchange }) {
      const { accessToken: token } = await exchange();
      // The token is for the messages alone. Pages of all front ends of the registration may read answers here.
      forbidReading(ctx);
      ctx.body = page(ctx, 'success', { token, provider: backend }, successTexts);
      ctx.type = 'html';
    },
    fail(ctx, failure) {
      // Decap CMS shows the message, Sveltia CMS the error.
      const content = { provider: backend, message: failure.detail, error: failure.detail };
      answerWith(ctx, failure, page(ctx, 'error', content, failureTexts(failure)));
      ctx.type = 'html';
    },
  };
}

const successTexts: PopupTexts = {
  heading: 'Back to the CMS',
  handedOver: 'You are logged in there. You can close this window.',
};

function failureTexts({ code, detail }: RelayError): PopupTexts {
  return {
    heading: failureHeading(code),
    detail,
    handedOver: 'The CMS shows this, too. You can close this window.',
  };
}

/**
 * JSON that is safe inside a script element, and that a regular expression without the flag `s` matches to its
 * end: Decap CMS reads the result with `(.+)$`.
 */
function asciiJson(value: object): string {
  return JSON.stringify(value).replaceAll(
    /[^\x20-\x25\x27-\x3b\x3d\x3f-\x7e]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}

/** What the popup says. */
interface PopupTexts {
  readonly heading: string;
  /** What follows the heading, if anything. */
  readonly detail?: string;
  /** The text once the CMS has the result. */
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
const popupPolicy = pagePolicy(script);

/**
 * The page in the popup of a CMS. It hands over the result of a login, and says so if it cannot.
 *
 * @param messages the origin, the greeting and the result as JSON, without characters that HTML or a script knows
 */
function popupPage(
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
