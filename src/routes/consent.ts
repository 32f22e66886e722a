import type { Client } from '../clients/read-metadata.ts';
import {
  consentPolicy,
  numberFor,
  type Question,
  readAsker,
  renderConfirmationPage,
  renderConsentPage,
} from '../delivery/consent-page.ts';
import { type Pages, setPageHeaders } from '../delivery/pages.ts';
import { RelayError } from '../failures/relay-error.ts';
import type { Served } from '../front-ends/front-ends.ts';
import { readBody } from '../http/body.ts';
import { type Context, type Handler, inOrder } from '../http/context.ts';
import { answerFailures, withFailureAnswer } from '../http/error-responder.ts';
import { expectNavigation } from '../http/request-guards.ts';
import type { FrontEndRequest, OAuthRequest } from '../login/state.ts';
import { parseEndpointParameters } from '../oauth/endpoint-parameters.ts';
import { actsAtProvider } from '../resources/resource.ts';
import { redirectToProvider, type StartPlace } from './redirect-to-provider.ts';

/**
 * Asks the person whether an unregistered client may log in, instead of starting the login. It asks every time, because
 * the provider knows only the relay, and would not ask about another client.
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
  const asked = { ...start, asker: readAsker(client) };
  const { state: token } = questions.start(ctx, frontEnd.name, asked);
  const question = createQuestion({ registration, frontEnd, issuer }, asked, token);
  showQuestion(ctx, pages, renderConsentPage(pages, question));
}

/**
 * The question about a login, with what the client may do if the person agrees.
 *
 * @param token the sealed login, which the form sends back
 */
function createQuestion(
  { registration, frontEnd, issuer }: Pick<StartPlace, 'registration' | 'frontEnd' | 'issuer'>,
  { asker = {}, oauth }: FrontEndRequest & { readonly oauth: OAuthRequest },
  token: string,
): Question {
  const { scope, redirectUri, ownResource } = oauth;
  const resource = frontEnd.resources.find(({ url }) => url === ownResource);
  return {
    asker,
    redirectUri,
    scope,
    resource: ownResource,
    usesProvider: resource === undefined || actsAtProvider(resource),
    learns: resource?.identity.claims,
    provider: new URL(registration.current().provider.authorizeUrl).host,
    action: `${issuer}/consent`,
    token,
  };
}

function showQuestion(ctx: Context, pages: Pages, page: string): void {
  setPageHeaders(ctx, consentPolicy(pages));
  // Browsers must ignore a text fragment (`#:~:text=`), which would scroll past the question.
  ctx.set('Document-Policy', 'force-load-at-top');
  ctx.body = page;
}

/**
 * `POST /auth/<registration>/consent`: the person's answer about an unregistered client. It counts once, and only in
 * the browser that was asked.
 */
export function consentEndpoint(served: Served): Handler {
  const { frontEnds, questions, issuer, pages } = served;
  const { origin } = new URL(issuer);
  const decide: Handler = async (ctx: Context) => {
    expectOwnPage(ctx, origin);
    const parameters = parseEndpointParameters(ctx.req.headers, await readBody(ctx));
    const { consent: token = '', decision, number } = parameters;
    const login = questions.verifyState(ctx, token);
    if (login === undefined) throw new RelayError('state_missing');
    questions.expectFresh(ctx, login);
    const frontEnd = frontEnds.findForLogin(login);
    if (frontEnd === undefined) throw new RelayError('front_end_gone');
    ctx.state.frontEnd = frontEnd.name;
    const { request } = login;
    const { oauth } = request;
    if (oauth === undefined) throw new RelayError('state_altered');
    const question = createQuestion({ ...served, frontEnd }, { ...request, oauth }, token);
    // The page's script sends `confirmed`. Without scripts, which another site can switch off by the sandbox of a
    // frame, the page sends `continue`. Then a second page asks the person to type a number.
    const isNumberTyped = decision === 'continue' && number === numberFor(question);
    if (decision === 'continue' && !isNumberTyped) {
      showQuestion(ctx, pages, renderConfirmationPage(pages, question));
      return;
    }
    questions.end(ctx, login);
    await withFailureAnswer(frontEnd.deliveryOf(login.request).fail, () => {
      if (decision !== 'confirmed' && !isNumberTyped) throw new RelayError('consent_denied');
    });
    redirectToProvider(ctx, { ...served, frontEnd }, login.request);
  };
  return inOrder(answerFailures(frontEnds.first.answerInPlace), decide);
}

/**
 * Requires that the relay's own page sent the form, against login CSRF. The page sends no referrer, so browsers may
 * send `Origin: null`.
 */
function expectOwnPage({ req: { headers } }: Context, ownOrigin: string): void {
  const { origin, 'sec-fetch-site': site = 'same-origin' } = headers;
  if (site !== 'same-origin') throw new RelayError('cross_site_refused');
  if (origin !== undefined && origin !== ownOrigin && origin !== 'null') {
    throw new RelayError('origin_foreign');
  }
}
