import { type FailureCode, unlessFailed } from '../failures/relay-error.ts';
import { type Action, type Context, claimedQuery } from '../http/context.ts';
import { type AnswerFailure, answerJson, answerWith } from '../http/error-responder.ts';
import { hasShort } from '../http/request-guards.ts';
import type { PeekLogin } from '../login/protection.ts';
import type { FrontEndRequest } from '../login/state.ts';
import { optional, type Query, withParameters } from '../oauth/query.ts';
import { isOAuthRequest, readFrontEndState, readReturnTo } from '../oauth/start-parameters.ts';
import { html, type Markup } from './html.ts';
import { headingOfFailure } from './page-texts.ts';
import { type Pages, setPageHeaders } from './pages.ts';

/** The addresses that the failure page links to, and how it looks. */
interface Targets {
  /** The public address that starts the front end's login, if a link can start it. */
  readonly loginUrl: string | undefined;
  readonly origin: string | undefined;
  readonly peekLogin: PeekLogin;
  readonly frontendUrl: string | undefined;
  readonly pages: Pages;
}

/** Failures that last until an operator or a developer has repaired them, so that no button offers a login. */
const lasting: ReadonlySet<FailureCode> = new Set<FailureCode>([
  'not_found',
  'page_unknown',
  'client_unknown',
  'redirect_uri_unknown',
  'client_unauthorized',
  'oauth_off',
  'cms_backend_wrong',
  'client_refused',
  'redirect_uri_refused',
  'user_record_signed',
  'provider_unsupported',
  'session_too_large',
  'host_unusable',
  'bad_request',
]);

/**
 * Answers failures with a page for people, and with JSON for programs. People are the navigations that
 * accept HTML, except on the routes that programs call: the user lookup and health.
 */
export function failurePage(targets: Targets): AnswerFailure {
  const { pages } = targets;
  const back = linkBack(targets, 'back_to');
  return (ctx, failure) => {
    const { code } = failure;
    if (!isOfPeople(ctx.state.action) || !isShownToPerson(ctx)) {
      answerJson(ctx, failure);
      return;
    }
    const again = lasting.has(code) ? undefined : loginAgainUrl(ctx, code, targets);
    const words = code === 'access_refused' ? 'log_in_otherwise' : 'log_in_again';
    const login = again && html`<a href="${again}">${pages.text(words)}</a>`;
    // If the front end is gone, the links would lead to another one.
    const hasLinks = code !== 'front_end_gone' && (login || back);
    const heading = headingOfFailure(code);
    const main = html`<h1>${pages.text(heading)}</h1>
${pages.whatHappened(failure)}
${hasLinks ? html`<nav${login && html` data-login`}>${[login, back]}</nav>` : undefined}
${pages.whomToAsk}
<small>${pages.text('request_id', { id: ctx.state.requestId })}</small>`;
    answerWith(ctx, failure, pages.page(heading, main));
    setPageHeaders(ctx, pages.policy());
  };
}

/** A link to the page of a front end, if it has one. */
export function linkBack(
  { frontendUrl, pages }: Pick<Targets, 'frontendUrl' | 'pages'>,
  words: 'back_to' | 'home_go',
): Markup | undefined {
  if (frontendUrl === undefined) return undefined;
  const site = new URL(frontendUrl).host;
  return html`<a href="${frontendUrl}">${pages.text(words, { site })}</a>`;
}

/** Whether people open addresses with this action. Without one, the relay has no such address: it may be misspelt. */
function isOfPeople(action: Action | undefined): boolean {
  return action === undefined || ['home', 'start', 'callback', 'consent'].includes(action);
}

/** Whether a person will see the answer. Tells caches that the answer depends on it. */
function isShownToPerson(ctx: Context): boolean {
  ctx.vary('Accept, Sec-Fetch-Mode');
  return isNavigation(ctx);
}

/**
 * Whether a browser opens this address as a page. Browsers send no `Sec-Fetch-Mode` over plain http beyond this
 * machine; there, `Accept` has to do.
 *
 * @see https://www.w3.org/TR/fetch-metadata/
 */
export function isNavigation(ctx: Context): boolean {
  const mode = ctx.get('Sec-Fetch-Mode');
  return hasShort(ctx, 'Accept') && (mode === '' || mode === 'navigate') && ctx.accepts('json', 'html') === 'html';
}

/**
 * The address that starts the login of a failed request again, with the front end's own state, or the page that a
 * session returns to, if the request carries one. A front end that compares its state ignores a login that comes back
 * without it. A person who may not log in is to choose another account.
 *
 * This may not be the browser of the failed login. That gains nothing: any link to a start may carry the same.
 *
 * @returns undefined if no link can start the login again. An OAuth login needs a new challenge of the front end
 */
function loginAgainUrl(ctx: Context, code: FailureCode, { loginUrl, origin, peekLogin }: Targets): string | undefined {
  const { action } = ctx.state;
  // Without an action, the target may not even be a URL.
  if (action === undefined || loginUrl === undefined) return loginUrl;
  const query = claimedQuery(ctx);
  const isStart = action === 'start';
  const request = isStart ? requestOfStart(query, origin) : peekLogin(ctx)?.request;
  if (request?.oauth !== undefined || (isStart && isOAuthRequest(query))) return undefined;
  const parameters = [
    ...optional('state', request?.state),
    ...optional('return_to', request?.returnTo),
    ...optional('prompt', code === 'access_refused' ? 'select_account' : undefined),
  ];
  return parameters.length === 0 ? loginUrl : withParameters(loginUrl, parameters);
}

/** What a start asks for, without parameters that cannot be used: these would fail again. */
function requestOfStart(query: Query, origin: string | undefined): FrontEndRequest {
  return {
    state: unlessFailed(() => readFrontEndState(query)),
    returnTo: unlessFailed(() => readReturnTo(query, origin)),
  };
}
