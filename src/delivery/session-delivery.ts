import { redirect } from '../http/redirect.ts';
import type { SessionLogin, Sessions } from '../session/sessions.ts';
import type { Delivery } from './delivery.ts';

/**
 * The delivery of a front end that holds no token: exchanges the code, seals the tokens into the front end's
 * cookie, and redirects to its page.
 *
 * @param login.registration the name of the registration
 * @param login.audience that of the registration
 * @param page inside the front end's origin
 * @param fail answers failures
 * @see RFC 10017 §6.1
 */
export function sessionDelivery(
  sessions: Sessions,
  login: Omit<SessionLogin, 'audience'> & { readonly audience: () => string },
  page: string,
  fail: Delivery['fail'],
): Delivery {
  return {
    redirects: true,
    async succeed(ctx, { exchange }) {
      // Discovery may find another provider during the exchange.
      const audience = login.audience();
      const token = await exchange();
      sessions.start(ctx, { ...login, audience }, token);
      redirect(ctx, page);
    },
    fail,
  };
}
