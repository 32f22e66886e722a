import { type FailureCode, type RelayError, unlessFailed } from '../failures/relay-error.ts';
import { type Action, type Context, truncatedQuery } from '../http/context.ts';
import { type AnswerFailure, answerJson, answerWith } from '../http/error-responder.ts';
import { isShortHeader } from '../http/request-guards.ts';
import type { FrontEndRequest } from '../login/state.ts';
import type { PeekLogin } from '../login/state-check.ts';
import { optionalParameter, type Query, withParameters } from '../oauth/query.ts';
import { isOAuthRequest, readFrontEndState, readReturnTo } from '../oauth/start-parameters.ts';
import { html, type Markup } from './html.ts';
import { headingOfFailure } from './page-texts.ts';
import { type Pages, setPageHeaders } from './pages.ts';

/** The links of the failure page, and its look. */
interface Targets {
  /** The address that starts the front end's login, if a link can do so. */
  readonly loginUrl: string | undefined;
  /** Whether `loginUrl` is a page of a resource, which takes nothing of what the failed login was started with. */
  readonly isOfDoor?: boolean;
  readonly origin: string | undefined;
  readonly peekLogin: PeekLogin;
  readonly frontendUrl: string | undefined;
  readonly pages: Pages;
}

/** Failures that only an operator or developer can repair, so the page offers no new login. */
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
 * Answers failures with a page for people, and with JSON for programs. People send navigations that accept HTML, except
 * at the user lookup and health, which programs call.
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
    const login = again === undefined ? undefined : html`<a href="${again}">${pages.text(words)}</a>`;
    // If the front end is gone, the links would lead to another one.
    const hasLinks = code !== 'front_end_gone';
    answerWithPage(ctx, failure, pages, hasLinks ? { login, back } : {});
  };
}

/** Answers a failure with a page. @param links `login` is the first one, and the one that most people need */
export function answerWithPage(
  ctx: Context,
  failure: RelayError,
  pages: Pages,
  { login, back }: { readonly login?: Markup | undefined; readonly back?: Markup | undefined } = {},
): void {
  const heading = headingOfFailure(failure.code);
  const hasLinks = login !== undefined || back !== undefined;
  const main = html`<h1>${pages.text(heading)}</h1>
${pages.whatHappened(failure)}
${hasLinks ? html`<nav${login && html` data-login`}>${[login, back]}</nav>` : undefined}
${pages.whomToAsk}
<small>${pages.text('request_id', { id: ctx.state.requestId })}</small>`;
  answerWith(ctx, failure, pages.page(heading, main));
  setPageHeaders(ctx, pages.policy());
}

export function linkBack(
  { frontendUrl, pages }: Pick<Targets, 'frontendUrl' | 'pages'>,
  words: 'back_to' | 'home_go',
): Markup | undefined {
  if (frontendUrl === undefined) return undefined;
  const site = new URL(frontendUrl).host;
  return html`<a href="${frontendUrl}">${pages.text(words, { site })}</a>`;
}

/** Whether people open addresses with this action. They may also have misspelt an address that does not exist. */
function isOfPeople(action: Action | undefined): boolean {
  return action === undefined || ['home', 'start', 'callback', 'consent'].includes(action);
}

/** Whether a person will see the answer. Marks the answer for caches as depending on it. */
function isShownToPerson(ctx: Context): boolean {
  ctx.vary('Accept, Sec-Fetch-Mode');
  return isNavigation(ctx);
}

/**
 * Whether a browser opens this address as a page. Over plain http beyond this machine, browsers send no
 * `Sec-Fetch-Mode`, so `Accept` has to do.
 *
 * @see https://www.w3.org/TR/fetch-metadata/
 */
export function isNavigation(ctx: Context): boolean {
  const mode = ctx.get('Sec-Fetch-Mode');
  return isShortHeader(ctx, 'Accept') && (mode === '' || mode === 'navigate') && ctx.accepts('json', 'html') === 'html';
}

/**
 * The address that starts the failed login again. It keeps `state` or the page to return to, because a front end that
 * checks its state would ignore the new login. Neither is verified, and need not be: an attacker can put anything into
 * an ordinary start link. A person who was refused gets to choose another account.
 *
 * @returns undefined if no link can start the login. An OAuth login needs a new challenge of the front end
 */
function loginAgainUrl(ctx: Context, code: FailureCode, { loginUrl, isOfDoor, origin, peekLogin }: Targets) {
  const { action } = ctx.state;
  // Without an action, the target may not even be a URL.
  if (action === undefined || loginUrl === undefined || isOfDoor) return loginUrl;
  const query = truncatedQuery(ctx);
  const isStart = action === 'start';
  const request = isStart ? requestOfStart(query, origin) : peekLogin(ctx)?.request;
  if (request?.oauth !== undefined || (isStart && isOAuthRequest(query))) return undefined;
  const parameters = [
    ...optionalParameter('state', request?.state),
    ...optionalParameter('return_to', request?.returnTo),
    ...optionalParameter('prompt', code === 'access_refused' ? 'select_account' : undefined),
  ];
  return parameters.length === 0 ? loginUrl : withParameters(loginUrl, parameters);
}

/** The request in a start, without parameters that cannot be used, because these would fail again. */
function requestOfStart(query: Query, origin: string | undefined): FrontEndRequest {
  return {
    state: unlessFailed(() => readFrontEndState(query)),
    returnTo: unlessFailed(() => readReturnTo(query, origin)),
  };
}
