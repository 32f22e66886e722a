import { codeChallenge } from '../login/pkce.ts';
import { authorizationRequest, nonceFor, withLoginParameters } from '../oauth/authorization-request.ts';
import { type ProviderErrorCode, providerErrorCode } from '../providers/refusals.ts';
import type { UpstreamResponse } from '../upstream/messages.ts';
import { get, isHtml, providerInTrouble, redirectTarget } from './answer.ts';
import { fixUrl, madeUp, madeUpVerifier, type ProviderContext } from './context.ts';
import { type Finding, findingsOn } from './finding.ts';

const endpoint = findingsOn('authorization endpoint');
const pkce = findingsOn('PKCE');

/**
 * Sends the authorization request as a browser does, with PKCE and without.
 *
 * Most providers show only in a browser, often after the login, that the client identifier, the callback
 * URL or the scope is wrong. So the best result is "not checked", with an address to open.
 */
export async function checkAuthorizationEndpoint(context: ProviderContext): Promise<Finding[]> {
  const { registration, provider, describe } = context;
  // The configured request first: its answer is what people get.
  const urls = [provider.pkce, !provider.pkce].map((withPkce) =>
    withLoginParameters(authorizationRequest(registration, provider)(), {
      state: madeUp,
      codeChallenge: withPkce ? codeChallenge(madeUpVerifier) : undefined,
      nonce: nonceFor(provider.scope),
    }),
  );
  const faults: (Finding | undefined)[] = [];
  for (const url of urls) {
    // A browser sends none of the headers for the relay's calls, and one may be a secret. Some hosts need a User-Agent.
    const agent = provider.requestHeaders?.['user-agent'];
    const headers = { ...(agent && { 'user-agent': agent }), accept: 'text/html' };
    const answer = await get(context, url, headers);
    if ('fix' in answer) return [endpoint.problem(answer.message, answer.fix)];
    faults.push(faultOf(answer, url, context));
  }
  const [fault, otherFault] = faults;
  if (fault?.verdict === 'problem' && otherFault === undefined) {
    return [
      provider.pkce
        ? pkce.problem('the provider refuses requests with PKCE', `set ${describe('pkce')} to off`)
        : pkce.problem('the provider requires PKCE', `set ${describe('pkce')} to on`),
    ];
  }
  if (fault !== undefined) return [fault];
  const shown = endpoint.notChecked(
    'answers, but providers often show only in a browser that the client identifier, the callback URL or the scope is wrong',
    `open it in a browser: ${urls[0]}`,
  );
  if (!provider.pkce) return [shown];
  return otherFault?.verdict === 'problem'
    ? [shown, pkce.ok('sent, and required by the provider')]
    : [shown, pkce.notChecked('sent; only a login shows whether the provider enforces it')];
}

/** The bytes of an answer that are read as an error code: a page is longer than any code. */
const longestCode = 100;

/** Says what is wrong with an answer to the authorization request; undefined if nothing shows. */
function faultOf(answer: UpstreamResponse, url: string, context: ProviderContext): Finding | undefined {
  const { registration, describe } = context;
  const { callbackUri } = registration;
  const { status, body } = answer;
  const fix = fixUrl(context, 'authorizeUrl');
  const compare = `register exactly ${callbackUri} as callback URL; compare client identifier and scope`;
  const open = `to see what the provider says, open ${url}`;
  const refused = (reason: string, advice: string) =>
    endpoint.problem(`the provider refuses the authorization request (${reason})`, advice);
  /** The advice if the error code names one thing. */
  const causes: Partial<Record<ProviderErrorCode, string>> = {
    invalid_client: `correct ${describe('clientId')}`,
    invalid_scope: `correct ${describe('scope')}`,
  };

  const target = redirectTarget(answer, url);
  if (target === null) return endpoint.problem('redirects without a usable Location', fix);
  if (target !== undefined) {
    const code = providerErrorCode(target.searchParams.get('error'));
    // Without an error, it leads to the login page.
    if (code === undefined) return undefined;
    // A provider sends errors to the callback only if it knows client and callback URL. @see RFC 6749 §4.1.2.1
    const isCallback = target.href.startsWith(`${callbackUri}?`);
    return refused(code, causes[code] ?? (isCallback ? open : `${compare}; ${open}`));
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
  // `other`: the body is text of any kind, and no known code.
  if (code !== undefined && code !== 'other') {
    return refused(code, causes[code] ?? `${compare}; ${open}`);
  }
  if (status >= 400) return refused(`status ${status}`, `${compare}; otherwise ${fix}; ${open}`);
  if (isHtml(answer)) return undefined;
  return endpoint.problem(`the answer is not an HTML page (status ${status})`, fix);
}

/** Compares the scope with the ones that the metadata lists. Reports nothing if there is no list. */
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
