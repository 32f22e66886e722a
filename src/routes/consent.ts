import type { Middleware } from 'koa';
import { consentPage } from '../delivery/consent-page.ts';
import { pagePolicy } from '../delivery/html.ts';
import { RelayError } from '../errors.ts';
import { readBody } from '../http/body.ts';
import type { Context, RequestState } from '../http/context.ts';
import type { AnswerFailure } from '../http/error-responder.ts';
import { refuseFrames } from '../http/request-guards.ts';
import type { createLoginProtection } from '../login/protection.ts';
import type { Registration } from '../login/registration.ts';
import { parseParameters } from '../oauth/endpoint-parameters.ts';
import type { FrontEnds } from './front-ends.ts';
import { type AskConsent, redirectAfterConsent } from './start-login.ts';

/** Binds a question to the browser that it is shown in, as a state binds a login. */
type Questions = ReturnType<typeof createLoginProtection>;

/**
 * Answers the start of a login with the question whether a client that nobody registered may log in. The question is
 * asked every time: the provider knows only the relay, and would not ask again.
 *
 * @param action the public address of {@link consentEndpoint}
 * @see draft-ietf-oauth-client-id-metadata-document-02 §6, RFC 6819 §5.2.3.2
 */
export function askConsent(
  registration: Registration,
  questions: Questions,
  action: string,
): AskConsent {
  return (ctx, frontEnd, client, request) =>
    refuseFrames(ctx, async () => {
      const { redirectUri, scope } = request.oauth;
      const { host: provider } = new URL(registration.provider().authorizeUrl);
      const { state: token } = questions.start(ctx, frontEnd.name, request);
      ctx.set('Content-Security-Policy', pagePolicy({ sendsForms: true }));
      ctx.type = 'html';
      ctx.body = consentPage({ client, redirectUri, scope, provider, action, token });
    });
}

/**
 * `POST /auth/<registration>/consent`: the answer of the person, which counts once, and only in the browser that was
 * asked.
 *
 * @param origin of the relay
 * @param answerInPlace answers failures
 */
export function consentEndpoint(
  registration: Registration,
  frontEnds: FrontEnds,
  questions: Questions,
  origin: string,
  answerInPlace: AnswerFailure,
): Middleware<RequestState> {
  return async (ctx: Context) => {
    ctx.state.answerFailure = answerInPlace;
    expectOwnPage(ctx, origin);
    const body = await readBody(ctx);
    const names = ['consent', 'decision'] as const;
    const { consent: token, decision } = parseParameters(ctx.req.headers, body, names);
    const asked = questions.verify(ctx, token ?? '');
    if (asked === undefined) throw new RelayError('state_missing');
    questions.checkAge(ctx, asked);
    const frontEnd = frontEnds.ofLogin(asked);
    const { oauth } = asked.request;
    if (frontEnd === undefined || oauth === undefined) throw new RelayError('front_end_gone');
    ctx.state.frontEnd = frontEnd.name;
    questions.end(ctx, asked);
    if (decision !== 'continue') {
      ctx.state.answerFailure = frontEnd.deliveryOf(asked.request).fail;
      throw new RelayError('consent_denied');
    }
    redirectAfterConsent({ ctx, registration, frontEnd }, { ...asked.request, oauth });
  };
}

/** The page sends no referrer, so its form has the origin `null`. */
function expectOwnPage({ req: { headers } }: Context, own: string): void {
  const { origin, 'sec-fetch-site': site = 'same-origin' } = headers;
  if (site !== 'same-origin') throw new RelayError('cross_site_refused');
  if (origin !== undefined && origin !== own && origin !== 'null') {
    throw new RelayError('origin_foreign');
  }
}
