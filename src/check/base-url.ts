import type { LoginConfig } from '../config/login-config.ts';
import type { Naming } from '../config/reading.ts';
import { codeChallenge } from '../login/pkce.ts';
import { withParameters } from '../oauth/query.ts';
import { matches } from '../origins/origin-pattern.ts';
import { examplePage } from '../origins/redirect-uri.ts';
import type { UpstreamResponse } from '../upstream/messages.ts';
import { type Finding, notChecked, ok, problem } from './finding.ts';
import type { Probe } from './probe.ts';

const subject = 'base URL';
const start = 'start the relay, then check again';

/**
 * Starts a login at the base URL, as a browser does. The provider's address in the answer shows the
 * callback URL and the client identifier of the relay that answers.
 *
 * @param codeVerifier the PKCE verifier of the start, if the relay takes only OAuth requests
 */
export async function checkBaseUrl(
  probe: Probe,
  config: LoginConfig,
  codeVerifier: string,
  naming: Naming,
): Promise<Finding> {
  const url = startUrl(config, codeVerifier);
  const probed = await probe({ endpoint: 'authorize', method: 'GET', url, headers: {} });
  if ('answer' in probed) return judge(probed.answer, config, naming);
  const { message, fix, byEveryone } = probed.unreached;
  return byEveryone
    ? problem(subject, message, fix)
    : notChecked(subject, message, `${start}; otherwise ${fix}`);
}

function startUrl(config: LoginConfig, codeVerifier: string): string {
  const url = `${config.baseUrl}/auth/${config.pathName}`;
  if (config.tokenDelivery === 'cms') {
    return withParameters(url, { client_id: config.frontEnd });
  }
  if (config.tokenDelivery !== 'code') return url;
  const [redirectUri = ''] = config.redirectUris;
  return withParameters(url, {
    response_type: 'code',
    client_id: config.frontEnd,
    redirect_uri: examplePage(redirectUri),
    code_challenge: codeChallenge(codeVerifier),
    code_challenge_method: 'S256',
  });
}

function judge(
  { status, headers }: UpstreamResponse,
  config: LoginConfig,
  { describe }: Naming,
): Finding {
  const correct = `correct ${describe('baseUrl')} or ${describe('pathName')}`;
  const request = URL.parse(headers.location ?? '')?.searchParams;
  const redirectUri = request?.get('redirect_uri');
  if (redirectUri === config.redirectUri) {
    return request?.get('client_id') === config.clientId
      ? ok(subject, 'reaches a relay with this callback URL and client identifier')
      : problem(
          subject,
          'reaches a relay with another client identifier',
          `restart that relay, or correct ${describe('clientId')}`,
        );
  }
  if (redirectUri) {
    return problem(
      subject,
      'reaches a relay with another callback URL',
      `restart that relay, or ${correct}`,
    );
  }
  if (isFailedStart(headers.location, config)) {
    return notChecked(
      subject,
      'reaches a relay that starts no login now',
      'its log says why; correct that, then check again',
    );
  }
  if (status === 502 || status === 503 || status === 504) {
    return notChecked(subject, `no relay is ready there (status ${status})`, start);
  }
  return problem(
    subject,
    `what answers at ${new URL(config.redirectUri).pathname.replace(/\/callback$/, '')} is not a relay (status ${status})`,
    `let the proxy pass that path to the relay, or ${correct}`,
  );
}

/** Whether a relay sent the failure of a start to the front end, in the query or the fragment. */
function isFailedStart(location: string | undefined, { origin }: LoginConfig): boolean {
  const target = URL.parse(location ?? '');
  if (target === null || !matches(origin, target.origin)) return false;
  const parts = [target.searchParams, new URLSearchParams(target.hash.slice(1))];
  return parts.some((part) => part.has('error') && part.has('request_id'));
}
