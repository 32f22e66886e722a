import { deriveCodeChallenge } from '../login/pkce.ts';
import { longestState } from '../login/state.ts';
import { chooseNonce, createAuthorizationUrls, withLoginParameters } from '../oauth/authorization-request.ts';
import { type ProviderErrorCode, readProviderErrorCode } from '../providers/error-codes.ts';
import type { UpstreamResponse } from '../upstream/messages.ts';
import { explainProviderTrouble, httpGet, isHtml, redirectTarget } from './answer.ts';
import { adviseOnUrl, madeUp, madeUpVerifier, type ProviderContext } from './context.ts';
import { type Finding, findingsOn } from './finding.ts';
import { explainIfOthersMayReach, type Unreached } from './unreached.ts';

const endpoint = findingsOn('authorization endpoint');
const pkce = findingsOn('PKCE');

/**
 * Sends the authorization request as a browser does, with PKCE and without.
 *
 * Most providers show only in a browser, often after the login, that the client identifier, the callback URL or the
 * scope is wrong. So the best result is "not checked", with an address to open.
 */
export async function checkAuthorizationEndpoint(context: ProviderContext): Promise<Finding[]> {
  const usesPkce = context.provider.pkce;
  // The configured request is sent first, because it is the request of real logins.
  const url = buildAuthorizationUrl(context, usesPkce);
  const answer = await requestLikeBrowser(context, url);
  if ('fix' in answer) return [judgeUnreached(answer, url)];
  const fault = judgeAnswer(answer, url, context);
  const faultWithOtherPkce = await findFault(context, buildAuthorizationUrl(context, !usesPkce));
  if (fault?.verdict === 'problem') return [await explainProblem(context, fault, faultWithOtherPkce === undefined)];
  if (fault !== undefined) return [fault];
  const shown = endpoint.notChecked(
    'answers, but providers often show only in a browser that the client identifier, the callback URL or the scope is wrong',
    `open it in a browser: ${shortenState(url)}`,
  );
  if (!usesPkce) return [shown];
  return faultWithOtherPkce?.verdict === 'problem'
    ? [shown, pkce.ok('sent, and required by the provider')]
    : [shown, pkce.notChecked('sent; only a login shows whether the provider enforces it')];
}

/**
 * Finds out whether the provider refuses the authorization request because of PKCE or of the length of its state.
 *
 * @param problem the finding if neither is the reason
 */
async function explainProblem(context: ProviderContext, problem: Finding, worksWithOtherPkce: boolean) {
  const { provider, describe } = context;
  if (worksWithOtherPkce) {
    return provider.pkce
      ? pkce.problem('the provider refuses requests with PKCE', `set ${describe('pkce')} to off`)
      : pkce.problem('the provider requires PKCE', `set ${describe('pkce')} to on`);
  }
  const faultWithShortState = await findFault(context, buildAuthorizationUrl(context, provider.pkce, madeUp));
  return faultWithShortState === undefined ? stateIsTooLong : problem;
}

/** A state of the greatest length, because some providers refuse long ones. */
const longState = madeUp.padEnd(longestState, '-');

/** Returns the same authorization request with a short state, because a person has to read and copy it. */
const shortenState = (url: string) => url.replace(longState, madeUp);

const stateIsTooLong = endpoint.warning(
  `the provider refuses a state of ${longestState} characters, and accepts a short one`,
  'keep state, redirect URI or return_to of the front ends short, so that the state of a login is, too',
);

/** Builds the authorization request of a login. By default, its state has the greatest length. */
function buildAuthorizationUrl(
  { registration, provider }: ProviderContext,
  withPkce: boolean,
  state = longState,
): string {
  return withLoginParameters(createAuthorizationUrls(registration, provider)(), {
    state,
    codeChallenge: withPkce ? deriveCodeChallenge(madeUpVerifier) : undefined,
    nonce: chooseNonce(provider.scope),
  });
}

/** Requests a page without the headers of the relay's calls, which may be secrets and which no browser would send. */
async function requestLikeBrowser(context: ProviderContext, url: string) {
  // Some hosts require a User-Agent.
  const agent = context.provider.requestHeaders?.['user-agent'];
  return await httpGet(context, url, { ...(agent && { 'user-agent': agent }), accept: 'text/html' });
}

/** Sends an authorization request, and says what is wrong; undefined if nothing shows. */
async function findFault(context: ProviderContext, url: string): Promise<Finding | undefined> {
  const answer = await requestLikeBrowser(context, url);
  return 'fix' in answer ? judgeUnreached(answer, url) : judgeAnswer(answer, url, context);
}

/** Judges an endpoint that was not reached. That may be no problem, because only browsers have to reach it. */
function judgeUnreached(unreached: Unreached, url: string): Finding {
  const { message, fix } = unreached;
  const onlyForBrowsers = explainIfOthersMayReach('browsers', unreached);
  if (onlyForBrowsers === undefined) return endpoint.problem(message, fix);
  // The address comes last, because terminals would take a punctuation mark behind it for a part of it.
  const advice = `open it in a browser; if that fails, ${fix}. The address is ${shortenState(url)}`;
  return endpoint.notChecked(onlyForBrowsers, advice);
}

/** The longest body in bytes that is read as an error code. A page is longer. */
const longestCode = 100;

/** Says what is wrong with an answer to the authorization request; undefined if nothing shows. */
function judgeAnswer(answer: UpstreamResponse, url: string, context: ProviderContext): Finding | undefined {
  const { registration, describe } = context;
  const { callbackUri } = registration;
  const { status, body } = answer;
  const fix = adviseOnUrl(context, 'authorizeUrl');
  const compare = `register exactly ${callbackUri} as callback URL; compare client identifier and scope`;
  const open = `to see what the provider says, open ${shortenState(url)}`;
  const problemOfRefusal = (reason: string, advice: string) =>
    endpoint.problem(`the provider refuses the authorization request (${reason})`, advice);
  const adviceByCode: Partial<Record<ProviderErrorCode, string>> = {
    invalid_client: `correct ${describe('clientId')}`,
    invalid_scope: `correct ${describe('scope')}`,
  };

  const target = redirectTarget(answer, url);
  if (target === null) return endpoint.problem('redirects without a usable Location', fix);
  if (target !== undefined) {
    const code = readProviderErrorCode(target.searchParams.get('error'));
    // Without an error, the redirect leads to the login page.
    if (code === undefined) return undefined;
    // A provider sends errors to the callback only if it knows client and callback URL. @see RFC 6749 §4.1.2.1
    const isCallback = target.href.startsWith(`${callbackUri}?`);
    return problemOfRefusal(code, adviceByCode[code] ?? (isCallback ? open : `${compare}; ${open}`));
  }
  // Cloudflare sends this header with a page that only a browser can pass.
  if (answer.headers['cf-mitigated'] !== undefined) {
    return endpoint.notChecked(
      'what is in front of it lets only browsers in',
      `open it in a browser: ${shortenState(url)}`,
    );
  }
  const trouble = explainProviderTrouble(endpoint, answer);
  if (trouble !== undefined) return trouble;
  if (status === 404 || status === 405) {
    return endpoint.problem(
      `there is no login page (status ${status}), or none for this client identifier`,
      `${fix}; or correct ${describe('clientId')}`,
    );
  }
  const code = readProviderErrorCode(Buffer.from(body).toString('utf8', 0, longestCode).trim());
  // `other` means that the body is some text without a known code.
  if (code !== undefined && code !== 'other') {
    return problemOfRefusal(code, adviceByCode[code] ?? `${compare}; ${open}`);
  }
  if (status >= 400) return problemOfRefusal(`status ${status}`, `${compare}; otherwise ${fix}; ${open}`);
  if (isHtml(answer)) return undefined;
  return endpoint.problem(`the answer is not an HTML page (status ${status})`, fix);
}

/** Compares the scope with the metadata's list, if there is one. */
export function checkScope({ provider, describe }: ProviderContext): Finding[] {
  const { scope = '', scopesSupported } = provider;
  if (scopesSupported === undefined) return [];
  const words = scope.split(' ').filter((word) => word !== '');
  const unlisted = words.filter((word) => !scopesSupported.includes(word));
  if (unlisted.length === 0) return [];
  return [
    findingsOn('scope').warning(
      `the provider does not list ${unlisted.join(', ')}: it may ignore that, or refuse the login`,
      `compare ${describe('scope')} with scopes_supported in the metadata`,
    ),
  ];
}
