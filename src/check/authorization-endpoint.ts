import type { Config } from '../config/config.ts';
import { describeOption } from '../config/options.ts';
import { codeChallenge } from '../login/pkce.ts';
import {
  authorizationRequestUrl,
  newNonce,
  withLoginParameters,
} from '../oauth/authorization-request.ts';
import { providerErrorCode } from '../provider-error-codes.ts';
import type { Provider } from '../providers/provider.ts';
import type { UpstreamResponse } from '../upstream/client.ts';
import { isHtml, isRedirect } from './answer.ts';
import { type Finding, notChecked, problem, providerInTrouble } from './finding.ts';
import type { Probe } from './probe.ts';

const subject = 'authorization endpoint';

/**
 * Sends the authorization request as a browser does.
 *
 * Most providers show only to a person, often after the login, that the client identifier, the callback
 * URL or the scope is wrong. So the best result is "not checked", with an address to open.
 *
 * @param fixUrl what to change if the address is wrong
 */
export async function checkAuthorizationEndpoint(
  probe: Probe,
  config: Config,
  provider: Provider,
  codeVerifier: string | undefined,
  fixUrl: string,
): Promise<Finding> {
  const url = withLoginParameters(authorizationRequestUrl(config, provider), {
    state: 'login-relay-check',
    codeChallenge: codeVerifier && codeChallenge(codeVerifier),
    nonce: newNonce(provider.scope),
  });
  const headers = { ...provider.requestHeaders, accept: 'text/html' };
  const probed = await probe({ endpoint: 'authorize', method: 'GET', url, headers });
  if ('unreached' in probed)
    return problem(subject, probed.unreached.message, probed.unreached.fix);
  const { answer } = probed;
  return isRedirect(answer) ? judgeRedirect(answer) : judgePage(answer);

  function judgeRedirect({ headers }: UpstreamResponse): Finding {
    const target = URL.parse(headers.location ?? '', url);
    if (target === null) return problem(subject, 'redirects to nowhere', fixUrl);
    const error = providerErrorCode(target.searchParams.get('error'));
    return error === undefined ? seenByPeopleOnly() : refused(error);
  }

  function judgePage(answer: UpstreamResponse): Finding {
    const { status } = answer;
    if (status >= 500) return providerInTrouble(subject, status);
    if (status === 404 || status === 405) {
      return problem(
        subject,
        `no login page is there (status ${status}), or none for this client identifier`,
        `${fixUrl}; or correct ${describeOption('clientId')}`,
      );
    }
    if (!isHtml(answer)) {
      return problem(subject, `what answers is not a page (status ${status})`, fixUrl);
    }
    return status >= 400 ? refused(`status ${status}`) : seenByPeopleOnly();
  }

  function seenByPeopleOnly(): Finding {
    return notChecked(
      subject,
      'answers, but may tell only a person that the client identifier, the callback URL or the scope is wrong',
      `open it in a browser: ${url}`,
    );
  }

  function refused(reason: string): Finding {
    return problem(
      subject,
      `the provider refuses the authorization request (${reason})`,
      `register exactly ${config.redirectUri} as callback URL; compare client identifier and scope; to see what the provider says, open ${url}`,
    );
  }
}
