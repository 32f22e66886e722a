import type { RelayError } from '../errors.ts';
import type { Context } from '../http/context.ts';
import { forbidReading } from '../http/cors.ts';
import { answerWith } from '../http/error-responder.ts';
import type { Delivery } from '../login/front-end.ts';
import { type PopupTexts, popupPage, popupPolicy } from './cms-popup.ts';
import { failureHeading } from './failure-page.ts';

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
  detail: undefined,
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
