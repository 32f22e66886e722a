import { type FailureCode, type RelayError, unlessFailed } from '../failures/relay-error.ts';
import { type Action, type Context, claimedQuery } from '../http/context.ts';
import { type AnswerFailure, answerJson, answerWith } from '../http/error-responder.ts';
import type { FrontEndRequest, States } from '../login/state.ts';
import { optional, type Query, withParameters } from '../oauth/query.ts';
import { frontEndState, isOAuthRequest, pageToReturnTo } from '../oauth/start-parameters.ts';
import { html, htmlPage, type Markup, pagePolicy } from './html.ts';

/** The addresses that the failure page links to. */
interface Targets {
  /** The public address that starts the front end's login, if a link can start it. */
  readonly loginUrl: string | undefined;
  readonly origin: string | undefined;
  readonly states: States;
  readonly frontendUrl: string | undefined;
}

/**
 * Answers failures with a page for people, and with JSON for programs. People are the navigations that
 * accept HTML, except on the routes that programs call: the user lookup and health.
 */
export function failurePage(targets: Targets): AnswerFailure {
  const { origin, frontendUrl } = targets;
  const back = frontendUrl && html`<a href="${frontendUrl}">Back to ${origin}</a>`;
  return (ctx, failure) => {
    const { code } = failure;
    const mayBePage = isOfPeople(ctx.state.action);
    if (mayBePage) ctx.vary('Accept, Sec-Fetch-Mode');
    if (!mayBePage || !isNavigation(ctx)) {
      answerJson(ctx, failure);
      return;
    }
    const again = loginAgainUrl(ctx, code, targets);
    const words = code === 'access_refused' ? 'Log in with another account' : 'Log in again';
    const login = again && html`<a href="${again}">${words}</a>`;
    // Otherwise the links would lead to another front end than the one that is gone.
    const hasLinks = code !== 'front_end_gone' && (login || back);
    const heading = failureHeading(code);
    const main = html`<h1>${heading}</h1>
${whatHappened(failure)}
${hasLinks ? html`<nav>${[login, back]}</nav>` : undefined}
<small>Request ID: ${ctx.state.requestId}</small>`;
    ctx.set('Content-Security-Policy', pagePolicy());
    answerWith(ctx, failure, htmlPage(heading, main));
    ctx.type = 'html';
  };
}

/** Whether people open such an address. Those that the relay does not have may be misspelt. */
function isOfPeople(action: Action | undefined): boolean {
  return action === undefined || ['start', 'callback', 'consent'].includes(action);
}

// Browsers send less than 300 characters. Each media range takes time.
const longestAccept = 1024;

/**
 * Whether a person will see the answer. Browsers send no `Sec-Fetch-Mode` over plain http beyond this
 * machine; there, `Accept` has to do.
 *
 * @see https://www.w3.org/TR/fetch-metadata/
 */
function isNavigation(ctx: Context): boolean {
  const mode = ctx.get('Sec-Fetch-Mode');
  const isShort = ctx.get('Accept').length <= longestAccept;
  return isShort && (mode === '' || mode === 'navigate') && ctx.accepts('json', 'html') === 'html';
}

/** The heading of pages that show a failure. */
export function failureHeading(code: FailureCode): string {
  return headings[code] ?? 'Login failed';
}

const headings: Readonly<Partial<Record<FailureCode, string>>> = {
  access_denied: 'Login cancelled',
  access_refused: 'No access',
  state_finished: 'Login already finished',
  state_expired: 'Login expired',
  not_found: 'Page not found',
};

/** Says to a person who they are, if the failure is about that, and what happened. */
export function whatHappened({ person, detail }: RelayError): Markup {
  return html`${person && html`<p>You are logged in as <b>${person}</b>.</p>`}
<p>${detail}</p>`;
}

/**
 * The address that starts the login of a failed request again, with the front end's own state, or the page that a
 * session returns to, if the request carries one. A front end that compares its state ignores a login that comes back
 * without it. A person who may not log in is to choose another account.
 *
 * The browser is not proven, and need not be: any link to the start of a login may carry any of them.
 *
 * @returns undefined if no link can start the login again. An OAuth login needs a new challenge of the front end
 */
function loginAgainUrl(
  ctx: Context,
  code: FailureCode,
  { loginUrl, origin, states }: Targets,
): string | undefined {
  const { action } = ctx.state;
  // Without an action, the target may not even be a URL.
  if (action === undefined || loginUrl === undefined) return loginUrl;
  const query = claimedQuery(ctx);
  const isStart = action === 'start';
  const request = isStart ? requestOfStart(query, origin) : states.peek(query['state'])?.request;
  if (request?.oauth !== undefined || (isStart && isOAuthRequest(query))) return undefined;
  const parameters = [
    ...optional('state', request?.state),
    ...optional('return_to', request?.returnTo),
    ...optional('prompt', code === 'access_refused' ? 'select_account' : undefined),
  ];
  return parameters.length === 0 ? loginUrl : withParameters(loginUrl, parameters);
}

/** What a start asks for. What it asks in vain would fail again. */
function requestOfStart(query: Query, origin: string | undefined): FrontEndRequest {
  return {
    state: unlessFailed(() => frontEndState(query)),
    returnTo: unlessFailed(() => pageToReturnTo(query, origin)),
  };
}
