import { deriveCodeChallenge } from '../login/pkce.ts';
import { longestState } from '../login/state.ts';
import { chooseNonce, createAuthorizationUrls, withLoginParameters } from '../oauth/authorization-request.ts';
import { type ProviderErrorCode, providerErrorCode } from '../providers/refusals.ts';
import type { UpstreamResponse } from '../upstream/messages.ts';
import { get, isHtml, providerInTrouble, redirectTarget } from './answer.ts';
import { fixUrl, madeUp, madeUpVerifier, type ProviderContext } from './context.ts';
import { type Finding, findingsOn } from './finding.ts';
import { onlyFor, type Unreached } from './unreached.ts';

const endpoint = findingsOn('authorization endpoint');
const pkce = findingsOn('PKCE');

/**
 * Sends the authorization request as a browser does, with PKCE and without.
 *
 * Most providers show only in a browser, often after the login, that the client identifier, the callback URL or the
 * scope is wrong. So the best result is "not checked", with an address to open.
 */
export async function checkAuthorizationEndpoint(context: ProviderContext): Promise<Finding[]> {
  const { provider, describe } = context;
  const { pkce: usesPkce } = provider;
  // The configured request comes first, because people get its answer.
  const url = requestUrl(context, usesPkce);
  const answer = await open(context, url);
  if ('fix' in answer) return [judgeUnreached(answer, url)];
  const fault = judgeAnswer(answer, url, context);
  const otherFault = await tryRequest(context, requestUrl(context, !usesPkce));
  if (fault?.verdict === 'problem' && otherFault === undefined) {
    return [
      provider.pkce
        ? pkce.problem('the provider refuses requests with PKCE', `set ${describe('pkce')} to off`)
        : pkce.problem('the provider requires PKCE', `set ${describe('pkce')} to on`),
    ];
  }
  if (fault?.verdict === 'problem') {
    const isTooLong = (await tryRequest(context, requestUrl(context, usesPkce, madeUp))) === undefined;
    return [isTooLong ? stateIsTooLong : fault];
  }
  if (fault !== undefined) return [fault];
  const shown = endpoint.notChecked(
    'answers, but providers often show only in a browser that the client identifier, the callback URL or the scope is wrong',
    `open it in a browser: ${url}`,
  );
  if (!provider.pkce) return [shown];
  return otherFault?.verdict === 'problem'
    ? [shown, pkce.ok('sent, and required by the provider')]
    : [shown, pkce.notChecked('sent; only a login shows whether the provider enforces it')];
}

/** A state of the greatest length, because some providers refuse long ones. */
const longState = madeUp.padEnd(longestState, '-');

const stateIsTooLong = endpoint.warning(
  `the provider refuses a state of ${longestState} characters, and accepts a short one`,
  'keep state, redirect URI or return_to of the front ends short, so that the state of a login is, too',
);

function requestUrl({ registration, provider }: ProviderContext, withPkce: boolean, state = longState): string {
  return withLoginParameters(createAuthorizationUrls(registration, provider)(), {
    state,
    codeChallenge: withPkce ? deriveCodeChallenge(madeUpVerifier) : undefined,
    nonce: chooseNonce(provider.scope),
  });
}

async function open(context: ProviderContext, url: string) {
  // A browser sends none of the headers for the relay's calls, which may be secrets. Some hosts require a User-Agent.
  const agent = context.provider.requestHeaders?.['user-agent'];
  return await get(context, url, { ...(agent && { 'user-agent': agent }), accept: 'text/html' });
}

async function tryRequest(context: ProviderContext, url: string): Promise<Finding | undefined> {
  const answer = await open(context, url);
  return 'fix' in answer ? judgeUnreached(answer, url) : judgeAnswer(answer, url, context);
}

/** Only browsers use this endpoint, so it need not be reachable from here, unless it fails for everybody. */
function judgeUnreached(unreached: Unreached, url: string): Finding {
  const { message, fix } = unreached;
  const unknown = onlyFor('browsers', unreached);
  if (unknown === undefined) return endpoint.problem(message, fix);
  return endpoint.notChecked(unknown, `open it in a browser: ${url}; if that fails, ${fix}`);
}

/** The longest body in bytes that is read as an error code. A page is longer. */
const longestCode = 100;

/** Says what is wrong with an answer to the authorization request; undefined if nothing shows. */
function judgeAnswer(answer: UpstreamResponse, url: string, context: ProviderContext): Finding | undefined {
  const { registration, describe } = context;
  const { callbackUri } = registration;
  const { status, body } = answer;
  const fix = fixUrl(context, 'authorizeUrl');
  const compare = `register exactly ${callbackUri} as callback URL; compare client identifier and scope`;
  const open = `to see what the provider says, open ${url}`;
  const refused = (reason: string, advice: string) =>
    endpoint.problem(`the provider refuses the authorization request (${reason})`, advice);
  const causes: Partial<Record<ProviderErrorCode, string>> = {
    invalid_client: `correct ${describe('clientId')}`,
    invalid_scope: `correct ${describe('scope')}`,
  };

  const target = redirectTarget(answer, url);
  if (target === null) return endpoint.problem('redirects without a usable Location', fix);
  if (target !== undefined) {
    const code = providerErrorCode(target.searchParams.get('error'));
    // Without an error, the redirect leads to the login page.
    if (code === undefined) return undefined;
    // A provider sends errors to the callback only if it knows client and callback URL. @see RFC 6749 §4.1.2.1
    const isCallback = target.href.startsWith(`${callbackUri}?`);
    return refused(code, causes[code] ?? (isCallback ? open : `${compare}; ${open}`));
  }
  if (answer.headers['cf-mitigated'] !== undefined) {
    return endpoint.notChecked('what is in front of it lets only browsers in', `open it in a browser: ${url}`);
  }
  const trouble = providerInTrouble(endpoint, answer);
  if (trouble !== undefined) return trouble;
  if (status === 404 || status === 405) {
    return endpoint.problem(
      `there is no login page (status ${status}), or none for this client identifier`,
      `${fix}; or correct ${describe('clientId')}`,
    );
  }
  const code = providerErrorCode(Buffer.from(body).toString('utf8', 0, longestCode).trim());
  // `other` means that the body is some text without a known code.
  if (code !== undefined && code !== 'other') {
    return refused(code, causes[code] ?? `${compare}; ${open}`);
  }
  if (status >= 400) return refused(`status ${status}`, `${compare}; otherwise ${fix}; ${open}`);
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
