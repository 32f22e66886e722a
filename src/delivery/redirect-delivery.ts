import type { AnswerFailure } from '../http/error-responder.ts';
import { redirect } from '../http/redirect.ts';
import { withParameters } from '../oauth/query.ts';
import type { Delivery } from './delivery.ts';

/** The part of the front end's URL that carries the parameters. */
export type UrlPart = 'query' | 'fragment';

/**
 * The contract's delivery: exchanges the code, and redirects to the front end with `access_token`.
 *
 * @param target.url the page that receives the token
 * @param answerFailure answers failures; by default, they are redirected to the same page, with `error`,
 *   `error_description` and `request_id`
 * @param state the front end's own `state`
 */
export function redirectDelivery(
  { url, part }: { readonly url: string; readonly part: UrlPart },
  answerFailure: AnswerFailure | undefined,
  state: string | undefined,
): Delivery {
  return {
    redirects: true,
    async succeed(ctx, { exchange }) {
      const { accessToken } = await exchange();
      redirect(ctx, withPart(url, part, { access_token: accessToken, state }));
    },
    fail(ctx, failure) {
      if (answerFailure !== undefined) {
        answerFailure(ctx, failure);
        return;
      }
      const parameters = {
        error: failure.code === 'access_refused' ? failure.oauthError : failure.code,
        error_description: failure.detail,
        request_id: ctx.state.requestId,
        state,
      };
      redirect(ctx, withPart(url, part, parameters));
    },
  };
}

/** The URL with parameters in one of its parts. Parameters that are undefined are left out. */
export function withPart(
  url: string,
  part: UrlPart,
  parameters: Readonly<Record<string, string | undefined>>,
): string {
  const given = Object.fromEntries(
    Object.entries(parameters).filter((entry): entry is [string, string] => entry[1] !== undefined),
  );
  const target =
    part === 'query' ? withParameters(url, given) : `${url}#${new URLSearchParams(given)}`;
  // Pages that decode with decodeURIComponent would read "+" as a plus sign.
  return url + target.slice(url.length).replaceAll('+', '%20');
}
