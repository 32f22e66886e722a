import type { Config } from '../config/config.ts';
import { describeOption } from '../config/options.ts';
import { isRedirect } from './answer.ts';
import { type Finding, ok, warning } from './finding.ts';
import type { Probe } from './probe.ts';

const subject = 'front end';

/** Asks for the page that a login ends at. */
export async function checkFrontEnd(
  probe: Probe,
  { frontendUrl, origin }: Config,
): Promise<Finding> {
  const headers = { accept: 'text/html' };
  const probed = await probe({ endpoint: 'authorize', method: 'GET', url: frontendUrl, headers });
  if ('unreached' in probed) {
    const { message, fix } = probed.unreached;
    return warning(subject, message, `start it, or correct ${describeOption('origin')}; ${fix}`);
  }
  const { status } = probed.answer;
  const target = isRedirect(probed.answer)
    ? URL.parse(probed.answer.headers.location ?? '', frontendUrl)
    : null;
  if (target !== null && target.origin !== origin) {
    return warning(
      subject,
      `redirects to another origin, ${target.origin}: requests from there are refused`,
      `if that is the front end, set ${describeOption('origin')} to it`,
    );
  }
  if (status < 400) return ok(subject, 'answers');
  return warning(
    subject,
    `answers with status ${status}`,
    `compare ${describeOption('frontendUrl')}: a login ends there`,
  );
}
