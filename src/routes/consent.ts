import type { Client } from '../clients/client-metadata.ts';
import { confirmationPage, consentPage, consentPolicy, numberOf } from '../delivery/consent-page.ts';
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
  const { scope, redirectUri, ownResource: resource } = start.oauth;
  const learns = frontEnd.resources.find(({ url }) => url === resource)?.identity.claims;
  const asked = { client, redirectUri, scope, resource, learns, provider };
  const page = consentPage(pages, { ...asked, action: `${issuer}/consent`, token });
  showQuestion(ctx, pages, page);
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
    const login = questions.verify(ctx, token);
    if (login === undefined) throw new RelayError('state_missing');
    questions.checkAge(ctx, login);
    const frontEnd = frontEnds.ofLogin(login);
    if (frontEnd === undefined) throw new RelayError('front_end_gone');
    ctx.state.frontEnd = frontEnd.name;
    const { oauth } = login.request;
    // The script of the page sends `confirmed`. Without scripts, the page sends `continue`, and a second page asks for
    // the number.
    const isTyped = decision === 'continue' && number === numberOf(token);
    if (decision === 'continue' && !isTyped && oauth !== undefined) {
      const { redirectUri, scope, ownResource: resource } = oauth;
      const question = { redirectUri, scope, resource, action: `${issuer}/consent`, token };
      showQuestion(ctx, pages, confirmationPage(pages, question));
      return;
    }
    questions.end(ctx, login);
    await answering(frontEnd.deliveryOf(login.request).fail, () => {
      if (decision !== 'confirmed' && !isTyped) throw new RelayError('consent_denied');
    });
    redirectToProvider(ctx, { ...served, frontEnd }, login.request);
  };
  return inOrder(answerFailures(frontEnds.first.answerInPlace), decide);
}

/** Expects that the relay's own page sent the form. That page sends no referrer, so its origin may be `null`. */
function expectOwnPage({ req: { headers } }: Context, own: string): void {
  const { origin, 'sec-fetch-site': site = 'same-origin' } = headers;
  if (site !== 'same-origin') throw new RelayError('cross_site_refused');
  if (origin !== undefined && origin !== own && origin !== 'null') {
    throw new RelayError('origin_foreign');
  }
}
