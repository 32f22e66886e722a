import { describeOption } from '../config/options.ts';
import { type ProviderErrorCode, providerErrorCode } from '../provider-error-codes.ts';
import type { UpstreamResponse } from '../upstream/client.ts';
import { isHtml, isRedirect } from './answer.ts';
import { type Finding, problem, providerInTrouble } from './finding.ts';

export const subject = 'authorization endpoint';

/** A longer page is more than an error code. */
const longestCode = 100;

/** What to change if the error code names one thing. */
const fixes: Partial<Record<ProviderErrorCode, string>> = {
  invalid_client: `correct ${describeOption('clientId')}`,
  invalid_scope: `correct ${describeOption('scope')}`,
};

/** The authorization request as it was sent. */
export interface AuthorizationRequest {
  readonly url: string;
  readonly redirectUri: string;
  /** What to change if the address is wrong. */
  readonly fixUrl: string;
}

/** Says what is wrong with an answer to the authorization request; undefined if nothing shows. */
export function authorizationFault(
  answer: UpstreamResponse,
  request: AuthorizationRequest,
): Finding | undefined {
  return isRedirect(answer) ? redirectFault(answer, request) : pageFault(answer, request);
}

function redirectFault(
  { headers }: UpstreamResponse,
  { url, redirectUri, fixUrl }: AuthorizationRequest,
): Finding | undefined {
  const target = URL.parse(headers.location ?? '', url);
  if (target === null) return problem(subject, 'redirects without a usable Location', fixUrl);
  const code = providerErrorCode(target.searchParams.get('error'));
  if (code === undefined) return undefined;
  // A provider redirects there only if it knows client and callback URL. @see RFC 6749 §4.1.2.1
  const isCallback = target.href.startsWith(`${redirectUri}?`);
  return refused(
    code,
    fixes[code] ?? (isCallback ? open(url) : `${compare(redirectUri)}; ${open(url)}`),
  );
}

function pageFault(
  answer: UpstreamResponse,
  { url, redirectUri, fixUrl }: AuthorizationRequest,
): Finding | undefined {
  const { status, body } = answer;
  if (status >= 500 || status === 429) return providerInTrouble(subject, status);
  if (status === 404 || status === 405) {
    return problem(
      subject,
      `there is no login page (status ${status}), or none for this client identifier`,
      `${fixUrl}; or correct ${describeOption('clientId')}`,
    );
  }
  const code = providerErrorCode(Buffer.from(body).toString('utf8', 0, longestCode).trim());
  if (code !== undefined && code !== 'other') {
    return refused(code, fixes[code] ?? `${compare(redirectUri)}; ${open(url)}`);
  }
  if (status >= 400) {
    return refused(
      `status ${status}`,
      `${compare(redirectUri)}; otherwise ${fixUrl}; ${open(url)}`,
    );
  }
  if (isHtml(answer)) return undefined;
  return problem(subject, `the answer is not an HTML page (status ${status})`, fixUrl);
}

function refused(reason: string, fix: string): Finding {
  return problem(subject, `the provider refuses the authorization request (${reason})`, fix);
}

function compare(redirectUri: string): string {
  return `register exactly ${redirectUri} as callback URL; compare client identifier and scope`;
}

function open(url: string): string {
  return `to see what the provider says, open ${url}`;
}
