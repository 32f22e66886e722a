import { RelayError } from '../failures/relay-error.ts';
import { parseJsonObject } from '../oauth/json.ts';
import type { ObserveCall, UpstreamCall, UpstreamRequest, UpstreamResponse } from '../upstream/messages.ts';
import type { CheckContext } from './context.ts';
import type { Finding, Findings } from './finding.ts';
import { explainCall, type Unreached } from './unreached.ts';

/** Makes one call. Returns the answer, or an explanation (with a `fix`) why there is none. */
export function ask(context: CheckContext, request: UpstreamRequest): Promise<UpstreamResponse | Unreached> {
  return callOrExplain(context, request.url, (observe) => context.client.call(request, observe));
}

/** Makes a call with a function. Returns its result, or an explanation if it fails without an answer. */
export async function callOrExplain<Answer>(
  context: CheckContext,
  url: string | URL,
  call: (observe: ObserveCall) => Promise<Answer>,
): Promise<Answer | Unreached> {
  let endedCall: UpstreamCall | undefined;
  try {
    return await call((ended) => {
      endedCall = ended;
    });
  } catch (error) {
    if (!(error instanceof RelayError) || endedCall === undefined) throw error;
    return explainCall(new URL(url), endedCall.outcome, endedCall.error, context);
  }
}

/** Requests a page or an API. Its `endpoint` only fills a field that no finding shows. */
export function httpGet(
  context: CheckContext,
  url: string,
  headers: Readonly<Record<string, string>> = {},
): ReturnType<typeof ask> {
  return ask(context, { endpoint: 'authorize', method: 'GET', url, headers });
}

export function isHtml({ headers }: UpstreamResponse): boolean {
  return /\b(text\/html|application\/xhtml\+xml)\b/i.test(headers['content-type'] ?? '');
}

/** The target of a redirect; null if its Location is unusable, undefined if the answer is no redirect. */
export function redirectTarget({ status, headers }: UpstreamResponse, url: string): URL | null | undefined {
  return status >= 300 && status < 400 ? URL.parse(headers.location ?? '', url) : undefined;
}

/** Says that the provider has a problem, and not the configuration; undefined if the status does not show it. */
export function explainProviderTrouble({ warning }: Findings, { status }: UpstreamResponse): Finding | undefined {
  if (status < 500 && status !== 429) return undefined;
  const fix = 'try again later, and look at the provider’s status page';
  return warning(`the provider has a problem (status ${status})`, fix);
}

/**
 * Says why an answer cannot come from an endpoint for programs, or that the provider itself has a problem, so that the
 * answer shows nothing; undefined if neither is so.
 *
 * @param fix what to change if the address is wrong
 */
export function explainWrongEndpoint(findings: Findings, answer: UpstreamResponse, fix: string): Finding | undefined {
  const trouble = explainProviderTrouble(findings, answer);
  if (trouble !== undefined) return trouble;
  const { status } = answer;
  const { problem } = findings;
  if (status >= 300 && status < 400) {
    return problem('redirects elsewhere, which the relay does not follow', fix);
  }
  if (status === 404 || status === 405) {
    return problem(`nothing at that address accepts the request (status ${status})`, fix);
  }
  return isHtml(answer) ? problem(`answers with an HTML page (status ${status})`, fix) : undefined;
}

/** Whether an answer is a relay's own 404: a proxy then leads to a relay, but at another path than expected. */
export function isNotFoundByRelay({ status, headers, body }: UpstreamResponse): boolean {
  const { detail } = new RelayError('not_found');
  return status === 404 && headers['x-request-id'] !== undefined && parseJsonObject(body)?.['detail'] === detail;
}
