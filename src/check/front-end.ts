import type { LoginConfig } from '../config/login-config.ts';
import type { Naming } from '../config/reading.ts';
import type { UpstreamResponse } from '../upstream/messages.ts';
import { isRedirect } from './answer.ts';
import { checkApis } from './apis.ts';
import { type Finding, notChecked, ok, warning } from './finding.ts';
import type { Probe } from './probe.ts';
import { checkSession } from './session.ts';

/**
 * Requests every page that a login can end at, and the APIs that they use through the relay. The first page is the
 * front end's main page.
 */
export async function checkFrontEnd(
  probe: Probe,
  config: LoginConfig,
  naming: Naming,
): Promise<Finding[]> {
  const { tokenDelivery, frontendUrl, redirectUris, origin } = config;
  if (frontendUrl === undefined) {
    return [notChecked('front end', `${origin} stands for several origins`, null)];
  }
  const pages = new Set([...(tokenDelivery === 'code' ? [] : [frontendUrl]), ...redirectUris]);
  const isCms = tokenDelivery === 'cms';
  const options = [
    'frontendUrl' as const,
    ...(redirectUris.length > 0 ? ['redirectUri' as const] : []),
  ];
  const ofPages = [...pages].map((url, index) => {
    const subject = index === 0 ? 'front end' : `page ${url}`;
    return checkPage(probe, { subject, url, origin, isCms, options }, naming);
  });
  const [ofApis, ...others] = await Promise.all([checkApis(probe, config), ...ofPages]);
  return [...others, ...checkSession(config), ...ofApis];
}

/** @see https://html.spec.whatwg.org/multipage/browsers.html#cross-origin-opener-policies */
function separatesPopup({ headers }: UpstreamResponse): boolean {
  return /^same-origin\s*(;|$)/.test(`${headers['cross-origin-opener-policy'] ?? ''}`.trim());
}

async function checkPage(
  probe: Probe,
  page: {
    readonly subject: string;
    readonly url: string;
    readonly origin: string;
    readonly isCms: boolean;
    /** The settings that name the pages. */
    readonly options: readonly ('frontendUrl' | 'redirectUri')[];
  },
  { describe }: Naming,
): Promise<Finding> {
  const { subject, url, origin, isCms, options } = page;
  const headers = { accept: 'text/html' };
  const probed = await probe({ endpoint: 'authorize', method: 'GET', url, headers });
  if ('unreached' in probed) {
    const { message, fix } = probed.unreached;
    return warning(subject, message, `start it, or correct ${describe('origin')}; ${fix}`);
  }
  const { status } = probed.answer;
  const target = isRedirect(probed.answer)
    ? URL.parse(probed.answer.headers.location ?? '', url)
    : null;
  if (target !== null && target.origin !== origin) {
    return warning(
      subject,
      `redirects to another origin, ${target.origin}: requests from there are refused`,
      `if that is the front end, set ${describe('origin')} to it`,
    );
  }
  if (isCms && separatesPopup(probed.answer)) {
    return warning(
      subject,
      'sends Cross-Origin-Opener-Policy: same-origin, so the CMS gets no answer from its popup',
      'let the admin page send same-origin-allow-popups, or no such header',
    );
  }
  if (status < 400) return ok(subject, 'answers');
  return warning(
    subject,
    `answers with status ${status}`,
    `compare ${options.map(describe).join(' and ')}: a login ends there`,
  );
}
