import { parseJsonObject } from '../oauth/json.ts';
import type { ProviderAnswer } from '../upstream/client.ts';

/** Whether the answer is a page for people. */
export function isHtml({ headers }: ProviderAnswer): boolean {
  return /\b(text\/html|application\/xhtml\+xml)\b/i.test(headers['content-type'] ?? '');
}

/** Whether the answer sends its reader elsewhere. */
export function isRedirect({ status }: ProviderAnswer): boolean {
  return status >= 300 && status < 400;
}

/**
 * The words of an answer as a person would see them: without markup, styles and scripts, and without
 * the queries of addresses, as some error pages repeat the request.
 */
export function visibleText({ body }: ProviderAnswer): string {
  return Buffer.from(body)
    .toString('utf8')
    .split(/<\/(?:script|style)\s*>/i)
    .map((part) => part.replace(/<(?:script|style)\b[\s\S]*/i, ''))
    .join(' ')
    .replace(/<[^<>]*>/g, ' ')
    .replace(/\?\S+/g, ' ')
    .replace(/\s+/g, ' ');
}

/** An error as an endpoint words it. Neither part is fit to be shown: providers echo what they got. */
export interface OAuthError {
  /** Empty where there is none. */
  readonly code: string;
  /** Lower case; empty where there is none. */
  readonly description: string;
}

/**
 * Reads the error of an answer: JSON as RFC 6749 has it, form-encoded as GitHub sends it unless it
 * is asked for JSON, or a mere `message` as Twitch sends it.
 *
 * @see RFC 6749 §5.2
 */
export function oauthError({ body }: ProviderAnswer): OAuthError {
  const fields =
    parseJsonObject(body) ??
    Object.fromEntries(new URLSearchParams(Buffer.from(body).toString('utf8')));
  const text = (name: string) => {
    const value = fields[name];
    return typeof value === 'string' ? value : '';
  };
  const description = text('error_description') || text('message');
  return { code: text('error'), description: description.toLowerCase() };
}
