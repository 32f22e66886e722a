import type { UpstreamResponse } from '../upstream/messages.ts';
import { type Finding, problem, providerInTrouble } from './finding.ts';

/** Whether the answer is an HTML page. */
export function isHtml({ headers }: UpstreamResponse): boolean {
  return /\b(text\/html|application\/xhtml\+xml)\b/i.test(headers['content-type'] ?? '');
}

/** Whether the answer is a redirect. */
export function isRedirect({ status }: UpstreamResponse): boolean {
  return status >= 300 && status < 400;
}

/**
 * Says why an answer cannot come from an endpoint for programs; undefined if it can.
 *
 * @param fixUrl what to change if the address is wrong
 */
export function wrongKind(
  subject: string,
  answer: UpstreamResponse,
  fixUrl: string,
): Finding | undefined {
  const { status } = answer;
  if (status >= 500 || status === 429) return providerInTrouble(subject, status);
  if (isRedirect(answer)) {
    return problem(subject, 'redirects elsewhere, which the relay does not follow', fixUrl);
  }
  if (status === 404 || status === 405) {
    return problem(
      subject,
      `nothing at that address accepts the request (status ${status})`,
      fixUrl,
    );
  }
  if (isHtml(answer)) {
    return problem(subject, `answers with an HTML page (status ${status})`, fixUrl);
  }
  return undefined;
}
