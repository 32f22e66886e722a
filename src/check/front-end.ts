import type { FrontEndConfig } from '../config/config.ts';
import { explainProviderTrouble, httpGet, isHtml, redirectTarget } from './answer.ts';
import type { CheckContext } from './context.ts';
import { type Finding, type Findings, findingsOn } from './finding.ts';
import { explainIfOthersMayReach } from './unreached.ts';

/**
 * Requests every page at which a login can end, and the APIs that they use through the relay. The front end's main page
 * comes first.
 */
export async function checkFrontEnd(context: CheckContext): Promise<Finding[]> {
  const { tokenDelivery, frontendUrl, redirectUris, kind, origins, apis } = context.frontEnd;
  if (frontendUrl === undefined) {
    const hasNoPage = kind === 'native' || origins.length === 0;
    const why = hasNoPage ? 'it has no page' : `${origins.join(', ')} stands for several origins`;
    return [findingsOn('front end').notChecked(why)];
  }
  // Without plain logins, no login ends at the front end URL.
  const pages = new Set(tokenDelivery === 'code' ? redirectUris : [frontendUrl, ...redirectUris]);
  const ofPages = [...pages].map((url, index) =>
    checkPage(context, url, findingsOn(index === 0 ? 'front end' : `page ${url}`)),
  );
  const ofApis = apis.map((api) => checkApi(context, api));
  const [foundOfApis, ...others] = await Promise.all([Promise.all(ofApis), ...ofPages]);
  return [...others, ...foundOfApis];
}

/** Requests a page. Its faults are only warnings, because pages may be down now, or answer only browsers. */
async function checkPage(context: CheckContext, url: string, { ok, notChecked, warning }: Findings) {
  const { frontEnd, describe } = context;
  const answer = await httpGet(context, url, { accept: 'text/html' });
  if ('fix' in answer) {
    const fix = `start it, or correct ${describe('origin')}; ${answer.fix}`;
    const onlyForBrowsers = explainIfOthersMayReach('browsers', answer);
    return onlyForBrowsers === undefined ? warning(answer.message, fix) : notChecked(onlyForBrowsers, fix);
  }
  const target = redirectTarget(answer, url);
  if (target && target.origin !== frontEnd.origin) {
    return warning(
      `redirects to another origin, ${target.origin}: requests from there are refused`,
      `if that is the front end, set ${describe('origin')} to it`,
    );
  }
  // @see https://html.spec.whatwg.org/multipage/browsers.html#cross-origin-opener-policies
  const openerPolicy = `${answer.headers['cross-origin-opener-policy'] ?? ''}`.trim();
  if (frontEnd.tokenDelivery === 'cms' && /^same-origin\s*(;|$)/.test(openerPolicy)) {
    return warning(
      'sends Cross-Origin-Opener-Policy: same-origin, so the CMS gets no answer from its popup',
      'let the admin page send same-origin-allow-popups, or no such header',
    );
  }
  if (answer.status < 400) return ok('answers');
  const named = frontEnd.redirectUris.length > 0 ? ` and ${describe('redirectUri')}` : '';
  return warning(
    `answers with status ${answer.status}`,
    `compare ${describe('frontendUrl')}${named}: a login ends there`,
  );
}

/** Requests, without a token, a URL that pages use through the relay. */
async function checkApi(
  context: CheckContext,
  { path, url, registration }: FrontEndConfig['apis'][number],
): Promise<Finding> {
  const findings = findingsOn(`API ${path}`);
  const { ok, warning } = findings;
  const fix = `correct the url of ${path}`;
  const answer = await httpGet(context, url);
  if ('fix' in answer) return warning(answer.message, `${fix}; ${answer.fix}`);
  const trouble = explainProviderTrouble(findings, answer);
  if (trouble !== undefined) return trouble;
  const target = redirectTarget(answer, url);
  // A redirect to a path below, such as the same path with a slash at its end, does no harm.
  if (target !== undefined && !target?.href.startsWith(url)) {
    return warning(`${url} redirects elsewhere, which the relay does not follow`, fix);
  }
  // APIs differ in their answers to a missing token, and to their root URL. So only a page shows that the URL is wrong.
  if (answer.status === 200 && isHtml(answer)) {
    return warning(`${url} answers with an HTML page, as APIs do not`, fix);
  }
  const answers = `${url} answers (status ${answer.status} without a token)`;
  return ok(`${answers}; the tokens of ${registration} go there`);
}
