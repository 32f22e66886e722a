import { type FailureCode, type RelayError, undefinedIfFailed } from '../failures/relay-error.ts';
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

interface PageTargets {
  /** The address that starts the front end's login, if a link can do so. */
  readonly loginUrl: string | undefined;
  /** Whether `loginUrl` is a page of a resource. It takes no parameters of the failed login. */
  readonly isOfDoor?: boolean;
  readonly origin: string | undefined;
  readonly peekLogin: PeekLogin;
  readonly frontendUrl: string | undefined;
  readonly pages: Pages;
}

/** Failures that only an operator or developer can repair. No page offers a new login after them. */
export const notByLogin: ReadonlySet<FailureCode> = new Set<FailureCode>([
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
 * Creates the answer to failures: a page for people, JSON for programs. A person is behind a navigation that accepts
 * HTML, except at endpoints such as the user lookup and health, which only programs call.
 */
export function createFailureAnswer(targets: PageTargets): AnswerFailure {
  const { pages } = targets;
  const back = linkBack(targets, 'back_to');
  return (ctx, failure) => {
    const { code } = failure;
    const mayBeShown = isForPeople(ctx.state.action);
    // Tells caches what the choice between a page and JSON depends on.
    if (mayBeShown) ctx.vary('Accept, Sec-Fetch-Mode');
    if (!mayBeShown || !isNavigation(ctx)) {
      answerJson(ctx, failure);
      return;
    }
    const loginUrl = notByLogin.has(code) ? undefined : loginAgainUrl(ctx, code, targets);
    const label = code === 'access_refused' ? 'log_in_otherwise' : 'log_in_again';
    const login = loginUrl === undefined ? undefined : html`<a href="${loginUrl}">${pages.text(label)}</a>`;
    // If the front end is gone, the links would lead to another front end.
    const hasLinks = code !== 'front_end_gone';
    answerWithPage(ctx, failure, pages, hasLinks ? { login, back } : {});
  };
}

/**
 * Answers a failure with a page.
 *
 * @param links `login` comes first, because most people need it. The style sheet shows it as a button (`data-login` in
 *   `html.ts`)
 */
export function answerWithPage(
  ctx: Context,
  failure: RelayError,
  pages: Pages,
  { login, back }: { readonly login?: Markup | undefined; readonly back?: Markup | undefined } = {},
): void {
  const heading = headingOfFailure(failure.code, ctx.state.by === 'cookie');
  const hasLinks = login !== undefined || back !== undefined;
  const main = html`<h1>${pages.text(heading)}</h1>
${pages.describeFailure(failure)}
${hasLinks ? html`<nav${login && html` data-login`}>${[login, back]}</nav>` : undefined}
${pages.whomToAsk}
<small>${pages.text('request_id', { id: ctx.state.requestId })}</small>`;
  answerWith(ctx, failure, pages.render(heading, main));
  setPageHeaders(ctx, pages.policy());
}

/** A link to the page of the front end. @returns undefined if the front end has none */
export function linkBack(
  { frontendUrl, pages }: Pick<PageTargets, 'frontendUrl' | 'pages'>,
  label: 'back_to' | 'home_go',
): Markup | undefined {
  if (frontendUrl === undefined) return undefined;
  const site = new URL(frontendUrl).host;
  return html`<a href="${frontendUrl}">${pages.text(label, { site })}</a>`;
}

/** Whether people open addresses with this action. A person may also have misspelt an address, which has no action. */
function isForPeople(action: Action | undefined): boolean {
  return action === undefined || ['home', 'start', 'callback', 'consent'].includes(action);
}

/**
 * Whether a browser opens this address as a page. Over plain http beyond this machine, browsers send no
 * `Sec-Fetch-Mode`, so only `Accept` tells.
 *
 * @see https://www.w3.org/TR/fetch-metadata/
 */
export function isNavigation(ctx: Context): boolean {
  const mode = ctx.get('Sec-Fetch-Mode');
  return (mode === '' || mode === 'navigate') && prefersHtml(ctx);
}

/** Whether a request asks for a page rather than for JSON. */
export const prefersHtml = (ctx: Context): boolean =>
  isShortHeader(ctx, 'Accept') && ctx.accepts('json', 'html') === 'html';

/**
 * The address that starts the failed login again. It keeps the page to return to, and `state`, because a front end that
 * checks its state would ignore the new login. Neither is verified, because an attacker can put anything into
 * an ordinary start link. A person who was refused may choose another account.
 *
 * @returns undefined if no link can start the login, because an OAuth login needs a new challenge of the front end
 */
function loginAgainUrl(ctx: Context, code: FailureCode, { loginUrl, isOfDoor, origin, peekLogin }: PageTargets) {
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

/** The request in a start, without unusable parameters, which would fail again. */
function requestOfStart(query: Query, origin: string | undefined): FrontEndRequest {
  return {
    state: undefinedIfFailed(() => readFrontEndState(query)),
    returnTo: undefinedIfFailed(() => readReturnTo(query, origin)),
  };
}
