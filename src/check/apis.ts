import type { LoginConfig } from '../config/login-config.ts';
import { isHtml, isRedirect } from './answer.ts';
import { type Finding, ok, providerInTrouble, warning } from './finding.ts';
import type { Probe } from './probe.ts';

/** Asks, without a token, for each URL that the pages of a front end use through the relay. */
export async function checkApis(
  probe: Probe,
  { apis }: Pick<LoginConfig, 'apis'>,
): Promise<Finding[]> {
  return await Promise.all(apis.map((api) => checkApi(probe, api)));
}

async function checkApi(
  probe: Probe,
  { path, url, registration }: LoginConfig['apis'][number],
): Promise<Finding> {
  const subject = `API ${path}`;
  const fix = `correct the url of ${path}`;
  const probed = await probe({ endpoint: 'api', method: 'GET', url, headers: {} });
  if ('unreached' in probed) {
    return warning(subject, probed.unreached.message, `${fix}; ${probed.unreached.fix}`);
  }
  const { answer } = probed;
  const { status } = answer;
  if (status >= 500 || status === 429) return providerInTrouble(subject, status);
  const target = isRedirect(answer) ? URL.parse(answer.headers.location ?? '', url)?.href : url;
  if (!target?.startsWith(url)) {
    return warning(subject, `${url} redirects elsewhere, which the relay does not follow`, fix);
  }
  // APIs answer in other ways if a token is missing, or if nothing is at the URL itself.
  if (status === 200 && isHtml(answer)) {
    return warning(subject, `${url} answers with an HTML page, as APIs do not`, fix);
  }
  return ok(
    subject,
    `${url} answers (status ${status} without a token); the tokens of ${registration} go there`,
  );
}
