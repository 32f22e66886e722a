import type { Config } from '../config/config.ts';
import { describeOption } from '../config/options.ts';
import { codeChallenge } from '../login/pkce.ts';
import { authorizationRequestUrl, withProtection } from '../oauth/authorization-request.ts';
import type { Provider } from '../providers/provider.ts';
import type { ProviderAnswer } from '../upstream/client.ts';
import { isHtml, isRedirect } from './answer.ts';
import {
  type Complaint,
  complaintIn,
  complaintOfPage,
  errorOfRedirect,
} from './authorization-error.ts';
import { type Finding, ok, problem, providerInTrouble } from './finding.ts';
import type { Probe } from './probe.ts';
import { clientUnknown, redirectUriRefused } from './registration.ts';

const subject = 'authorization endpoint';

/**
 * Sends the authorization request as a browser would, and judges how the provider takes it, as far
 * as it shows that before a person has logged in.
 *
 * @param mendUrl what to change where the address is wrong
 */
export async function examineAuthorizationEndpoint(
  probe: Probe,
  config: Config,
  provider: Provider,
  codeVerifier: string | undefined,
  mendUrl: string,
): Promise<Finding> {
  const url = withProtection(authorizationRequestUrl(config, provider), {
    state: 'login-relay-check',
    codeChallenge: codeVerifier && codeChallenge(codeVerifier),
  });
  const headers = { ...provider.requestHeaders, accept: 'text/html' };
  const probed = await probe(subject, { endpoint: 'authorize', method: 'GET', url, headers });
  if ('finding' in probed) return probed.finding;
  const { answer } = probed;
  return isRedirect(answer) ? judgeRedirect(answer) : judgePage(answer);

  function judgePage(answer: ProviderAnswer): Finding {
    const { status } = answer;
    if (status >= 500) return providerInTrouble(subject, status);
    const complaint = complaintOfPage(answer);
    if (complaint !== undefined) return explain(complaint);
    if (status === 404 || status === 405 || (status >= 400 && !isHtml(answer))) {
      return problem(
        subject,
        `no login page is there (status ${status}), or none for this client identifier`,
        `${mendUrl}; or correct ${describeOption('clientId')}`,
      );
    }
    if (status >= 400) return refused(`status ${status}`);
    if (!isHtml(answer)) {
      return problem(subject, 'what answers is not a page that a person could log in at', mendUrl);
    }
    return ok(subject, 'shows a page; an unregistered callback URL may show only after the login');
  }

  function judgeRedirect({ headers }: ProviderAnswer): Finding {
    const target = URL.parse(headers.location ?? '', url);
    if (target === null) return problem(subject, 'redirects to nowhere', mendUrl);
    const error = errorOfRedirect(target.searchParams);
    if (error === '') return ok(subject, 'sends the browser on to log in');
    const complaint = complaintIn(error);
    return complaint === undefined ? refused(error) : explain(complaint);
  }

  function explain(complaint: Complaint): Finding {
    if (complaint === 'redirect_uri') return redirectUriRefused(subject, config.redirectUri);
    if (complaint === 'client') return clientUnknown(subject);
    return problem(
      subject,
      'the provider refuses the scope',
      `correct ${describeOption('scope')}, or allow it to the client at the provider`,
    );
  }
}

function refused(reason: string): Finding {
  return problem(
    subject,
    `the provider refuses the authorization request (${reason})`,
    'compare client identifier, callback URL and scope with what is registered',
  );
}
