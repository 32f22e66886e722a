import type { Naming } from '../config/reading.ts';
import type { OptionName } from '../config/settings/settings.ts';
import { type ProviderErrorCode, providerErrorCode } from '../provider-error-codes.ts';
import type { UpstreamResponse } from '../upstream/messages.ts';
import { isHtml, isRedirect } from './answer.ts';
import { type Finding, problem, providerInTrouble } from './finding.ts';
import { fixUrl } from './fix-url.ts';

export const subject = 'authorization endpoint';

/** A longer page is more than an error code. */
const longestCode = 100;

/** The setting to change if the error code names one thing. */
const causes = {
  invalid_client: 'clientId',
  invalid_scope: 'scope',
} as const satisfies Partial<Record<ProviderErrorCode, OptionName>>;

/** The authorization request as it was sent. */
export interface AuthorizationRequest {
  readonly url: string;
  readonly redirectUri: string;
  readonly naming: Naming;
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
  { url, redirectUri, naming }: AuthorizationRequest,
): Finding | undefined {
  const target = URL.parse(headers.location ?? '', url);
  if (target === null) {
    const fix = fixUrl('authorizeUrl', naming);
    return problem(subject, 'redirects without a usable Location', fix);
  }
  const code = providerErrorCode(target.searchParams.get('error'));
  if (code === undefined) return undefined;
  // A provider redirects there only if it knows client and callback URL. @see RFC 6749 §4.1.2.1
  const isCallback = target.href.startsWith(`${redirectUri}?`);
  return refused(
    code,
    fixOf(code, naming) ?? (isCallback ? open(url) : `${compare(redirectUri)}; ${open(url)}`),
  );
}

function pageFault(
  answer: UpstreamResponse,
  { url, redirectUri, naming }: AuthorizationRequest,
): Finding | undefined {
  const { status, body } = answer;
  const fix = fixUrl('authorizeUrl', naming);
  if (status >= 500 || status === 429) return providerInTrouble(subject, status);
  if (status === 404 || status === 405) {
    return problem(
      subject,
      `there is no login page (status ${status}), or none for this client identifier`,
      `${fix}; or correct ${naming.describe('clientId')}`,
    );
  }
  const code = providerErrorCode(Buffer.from(body).toString('utf8', 0, longestCode).trim());
  if (code !== undefined && code !== 'other') {
    return refused(code, fixOf(code, naming) ?? `${compare(redirectUri)}; ${open(url)}`);
  }
  if (status >= 400) {
    return refused(`status ${status}`, `${compare(redirectUri)}; otherwise ${fix}; ${open(url)}`);
  }
  if (isHtml(answer)) return undefined;
  return problem(subject, `the answer is not an HTML page (status ${status})`, fix);
}

function fixOf(code: ProviderErrorCode, { describe }: Naming): string | undefined {
  return code in causes ? `correct ${describe(causes[code as keyof typeof causes])}` : undefined;
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
