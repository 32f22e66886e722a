import type { Client } from '../clients/client-metadata.ts';
import {
  confirmationPage,
  consentPage,
  consentPolicy,
  numberOf,
} from '../delivery/consent-page.ts';
import type { Pages } from '../delivery/pages.ts';
import { RelayError } from '../failures/relay-error.ts';
import type { Served } from '../front-ends/front-ends.ts';
import { readBody } from '../http/body.ts';
import { type Context, type Handler, inOrder } from '../http/context.ts';
import { answerFailures, answering } from '../http/error-responder.ts';
import { expectNavigation } from '../http/request-guards.ts';
import type { FrontEndRequest, OAuthRequest } from '../login/state.ts';
import { parseEndpointParameters } from '../oauth/endpoint-parameters.ts';
import { redirectToProvider, type StartPlace } from './redirect-to-provider.ts';

/**
 * Answers the start of a login with the question whether a client that nobody registered may log in. The question is
 * asked every time: the provider knows only the relay, and would not ask again.
 *
 * @see draft-ietf-oauth-client-id-metadata-document-02 §6, RFC 6819 §5.2.3.2
 */
export function askConsent(
  ctx: Context,
  { registration, frontEnd, questions, issuer, pages }: StartPlace,
  client: Client,
  start: FrontEndRequest & { readonly oauth: OAuthRequest },
): void {
  expectNavigation(ctx);
  const { host: provider } = new URL(registration.current().provider.authorizeUrl);
  const { state: token } = questions.start(ctx, frontEnd.name, start);
  const { scope, redirectUri, ownResource } = start.oauth;
  const action = `${issuer}/consent`;
  showQuestion(
    ctx,
    pages,
    consentPage(pages, {
      client,
      redirectUri,
      scope,
      resource: ownResource,
      learns: frontEnd.resources.find(({ url }) => url === ownResource)?.identity.claims,
      provider,
      action,
      token,
    }),
  );
}

function showQuestion(ctx: Context, pages: Pages, page: string): void {
  ctx.set('Content-Security-Policy', consentPolicy(pages));
  ctx.type = 'html';
  ctx.body = page;
}

/**
 * `POST /auth/<registration>/consent`: the answer of a person to the question whether a client that nobody registered
 * may log in. It counts once, and only in the browser that was asked.
 */
export function consentEndpoint(served: Served): Handler {
  const { frontEnds, questions, issuer, pages } = served;
  const { origin } = new URL(issuer);
  const decide: Handler = async (ctx: Context) => {
    expectOwnPage(ctx, origin);
    const parameters = parseEndpointParameters(ctx.req.headers, await readBody(ctx));
    const { consent: token = '', decision, number } = parameters;
    const asked = questions.verify(ctx, token);
    if (asked === undefined) throw new RelayError('state_missing');
    questions.checkAge(ctx, asked);
    const frontEnd = frontEnds.ofLogin(asked);
    if (frontEnd === undefined) throw new RelayError('front_end_gone');
    ctx.state.frontEnd = frontEnd.name;
    const { oauth } = asked.request;
    // By the script of the page, or by hand.
    const isTyped = decision === 'continue' && number === numberOf(token);
    if (decision === 'continue' && !isTyped && oauth !== undefined) {
      showQuestion(
        ctx,
        pages,
        confirmationPage(pages, {
          redirectUri: oauth.redirectUri,
          scope: oauth.scope,
          resource: oauth.ownResource,
          action: `${issuer}/consent`,
          token,
        }),
      );
      return;
    }
    questions.end(ctx, asked);
    await answering(frontEnd.deliveryOf(asked.request).fail, () => {
      if (decision !== 'confirmed' && !isTyped) throw new RelayError('consent_denied');
    });
    redirectToProvider(ctx, { ...served, frontEnd }, asked.request);
  };
  return inOrder(answerFailures(frontEnds.first.answerInPlace), decide);
}

/** The page sends no referrer, so its form has the origin `null`. */
function expectOwnPage({ req: { headers } }: Context, own: string): void {
  const { origin, 'sec-fetch-site': site = 'same-origin' } = headers;
  if (site !== 'same-origin') throw new RelayError('cross_site_refused');
  if (origin !== undefined && origin !== own && origin !== 'null') {
    throw new RelayError('origin_foreign');
  }
}
