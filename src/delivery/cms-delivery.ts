import type { RelayError } from '../failures/relay-error.ts';
import type { Context } from '../http/context.ts';
import { forbidReading } from '../http/cors.ts';
import { answerWith } from '../http/error-responder.ts';
import { hasStar, type OriginPattern, toRegExpSource } from '../origins/origin-pattern.ts';
import type { Delivery } from './delivery.ts';
import { html } from './html.ts';
import { headingOfFailure } from './page-texts.ts';
import { type Pages, setPageHeaders } from './pages.ts';

/**
 * Creates the delivery to Decap CMS and Sveltia CMS: it exchanges the code, and answers with a page in their popup that
 * hands over the token or the failure by `postMessage`.
 *
 * @param backend the `backend.name` of the CMS, which the messages contain
 * @param origins the origins of the admin page. No other page gets the token or the failure
 * @see https://decapcms.org/docs/external-oauth-clients/
 */
export function createCmsDelivery(backend: string, origins: readonly OriginPattern[], pages: Pages): Delivery {
  const { text } = pages;
  const policy = pages.policy({ script });
  const addresses = {
    origins: origins.filter((one) => !hasStar(one)),
    patterns: origins.filter(hasStar).map(toRegExpSource),
  };

  /**
   * Creates the page in the popup. If it cannot hand the result over, it tells the person. Its script shows one
   * `data-note` at a time. If no script runs, the first note appears after two seconds (`data-late`).
   */
  function createPage(ctx: Context, content: object, failure?: RelayError): string {
    const outcome = failure ? 'error' : 'success';
    const result = `authorization:${backend}:${outcome}:${asciiJson(content)}`;
    const messages = asciiJson({ ...addresses, greeting: `authorizing:${backend}`, result });
    const heading = failure ? headingOfFailure(failure.code) : 'cms_heading';
    const main = html`<h1>${text(heading)}</h1>
${failure && pages.describeFailure(failure)}
<p data-note data-late id="needs-scripts">${text('needs_scripts')}</p>
<p data-note id="waiting" hidden>${text('cms_waiting')}</p>
<p data-note id="handed-over" hidden>${text(failure ? 'cms_failed' : 'cms_logged_in')}</p>
<p data-note id="no-opener" hidden>${text('cms_no_opener')}</p>
<p data-note id="no-answer" hidden>${text('cms_no_answer', { origin: origins.join(', ') })}</p>
${failure && pages.whomToAsk}
<small>${text('request_id', { id: ctx.state.requestId })}</small>`;
    const scripts = html`<script type="application/json" id="messages">${{ markup: messages }}</script>
<script data-cfasync="false">${{ markup: script }}</script>
`;
    setPageHeaders(ctx, policy);
    return pages.render(heading, main, scripts);
  }

  return {
    takes: 'token',
    succeed(ctx, granted) {
      // The CMS gets a refresh token of the relay instead of the provider's.
      const handedOver = granted.token.refreshToken ? granted.forFrontEnd() : granted.token;
      const { accessToken: token, refreshToken } = handedOver;
      // Otherwise, pages of other front ends at this registration could read the token from the answer.
      forbidReading(ctx);
      ctx.body = createPage(ctx, { token, refreshToken, provider: backend });
    },
    fail(ctx, failure) {
      // Decap CMS shows the message, Sveltia CMS the error. Only a refusal of the person also has a code, `access_denied`,
      // as in a redirect.
      const { detail, code, oauthError } = failure;
      const errorCode = code === 'access_refused' ? oauthError : undefined;
      const content = { provider: backend, message: detail, error: detail, errorCode };
      answerWith(ctx, failure, createPage(ctx, content, failure));
    },
  };
}

/** JSON that is safe inside a script element. It has no line ends, because Decap CMS reads the result with `(.+)$`. */
function asciiJson(value: object): string {
  return JSON.stringify(value).replaceAll(
    /[^\x20-\x25\x27-\x3b\x3d\x3f-\x7e]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}

/**
 * The handshake of Decap CMS and Sveltia CMS. The script posts a greeting without a secret to each address of the CMS,
 * or to any page if the addresses contain a `*`. A page at one of the addresses repeats the greeting. Only the origin
 * of that message gets the result, because another page may load in the window meanwhile. The script posts the greeting
 * once, because Sveltia CMS takes any further message for the result.
 */
const script = `
(() => {
  const data = document.getElementById('messages');
  const { origins, patterns, greeting, result } = JSON.parse(data.textContent);
  const fits = (origin) => origins.includes(origin) || patterns.some((one) => new RegExp(one).test(origin));
  data.remove();
  history.replaceState(null, '', location.pathname);
  const show = (id) => {
    for (const note of document.querySelectorAll('[data-note]')) note.hidden = note.id !== id;
  };
  show('waiting');
  const cms = window.opener;
  if (!cms || cms.closed) {
    show('no-opener');
    return;
  }
  const patience = setTimeout(show, 5000, 'no-answer');
  addEventListener('message', function answer(event) {
    if (event.source !== cms || !fits(event.origin) || event.data !== greeting) return;
    removeEventListener('message', answer);
    clearTimeout(patience);
    cms.postMessage(result, event.origin);
    show('handed-over');
  });
  for (const origin of patterns.length > 0 ? ['*'] : origins) cms.postMessage(greeting, origin);
})();
`;
