import type { ProviderAnswer } from '../upstream/client.ts';
import { visibleText } from './answer.ts';

/** What a provider can hold against an authorization request. */
export type Complaint = 'redirect_uri' | 'client' | 'scope';

/** Words by which providers complain; the first that fit count. */
const words: readonly (readonly [Complaint, RegExp])[] = [
  ['redirect_uri', /redirect[ _-]?ur[il]|redirect_mismatch|callback[ _]ur[il]/i],
  [
    'client',
    /(invalid|unauthorized|unknown)[ _]client|(client|application)[^.]{0,80} (invalid|unknown|not found|not exist|not registered|disabled)/i,
  ],
  ['scope', /invalid[ _]scope|scope[^.]{0,60} (invalid|unknown|not)/i],
];

/** How a page with status 200 has to speak of the redirect URI to be a complaint. */
const redirectUriRefused =
  /redirect_uri_mismatch|(redirect[ _-]?ur[il]|callback ur[il])[^.]{0,100} (mismatch|invalid|not)/i;

/** What a page with an error complains about, where its words tell. */
export function complaintOfPage(answer: ProviderAnswer): Complaint | undefined {
  const text = visibleText(answer);
  if (answer.status >= 400) return complaintIn(text);
  return redirectUriRefused.test(text) ? 'redirect_uri' : undefined;
}

/** What an error code complains about. */
export function complaintIn(text: string): Complaint | undefined {
  return words.find(([, pattern]) => pattern.test(text))?.[0];
}

/**
 * The error code that a redirect carries, empty where there is none: never free text.
 *
 * @see RFC 6749 §4.1.2.1
 */
export function errorOfRedirect(parameters: URLSearchParams): string {
  const error = parameters.get('error') ?? '';
  if (error !== '') return /^[a-z_]{1,40}$/.test(error) ? error : 'unknown error';
  // Google's own error page gets the code inside of a binary record.
  const record = Buffer.from(parameters.get('authError') ?? '', 'base64').toString('latin1');
  return /[a-z]+(_[a-z]+)+/.exec(record)?.[0] ?? '';
}
