import type { LoginConfig } from '../config/login-config.ts';
import type { Naming } from '../config/reading.ts';
import { codeChallenge } from '../login/pkce.ts';
import {
  authorizationRequestUrl,
  newNonce,
  withLoginParameters,
} from '../oauth/authorization-request.ts';
import type { Provider } from '../providers/provider.ts';
import { authorizationFault, subject } from './authorization-response.ts';
import { type Finding, notChecked, ok, problem } from './finding.ts';
import type { Probe } from './probe.ts';

/**
 * Sends the authorization request as a browser does, with PKCE and without.
 *
 * Most providers show only in a browser, often after the login, that the client identifier, the callback
 * URL or the scope is wrong. So the best result is "not checked", with an address to open.
 *
 * @param codeVerifier a made-up one
 */
export async function checkAuthorizationEndpoint(
  probe: Probe,
  config: LoginConfig,
  provider: Provider,
  codeVerifier: string,
  naming: Naming,
): Promise<Finding[]> {
  const { redirectUri } = config;
  const urls = [provider.pkce, !provider.pkce].map((pkce) =>
    withLoginParameters(authorizationRequestUrl(config, provider), {
      state: 'login-relay-check',
      codeChallenge: pkce ? codeChallenge(codeVerifier) : undefined,
      nonce: newNonce(provider.scope),
    }),
  );
  const faults: (Finding | undefined)[] = [];
  for (const url of urls) {
    const headers = { ...provider.requestHeaders, accept: 'text/html' };
    const probed = await probe({ endpoint: 'authorize', method: 'GET', url, headers });
    if ('unreached' in probed) {
      return [problem(subject, probed.unreached.message, probed.unreached.fix)];
    }
    faults.push(authorizationFault(probed.answer, { url, redirectUri, naming }));
  }
  const [fault, otherFault] = faults;
  if (fault?.verdict === 'problem' && otherFault === undefined)
    return [wrongPkce(provider, naming)];
  if (fault !== undefined) return [fault];
  const shown = notChecked(
    subject,
    'answers, but providers often show only in a browser that the client identifier, the callback URL or the scope is wrong',
    `open it in a browser: ${urls[0]}`,
  );
  return provider.pkce ? [shown, pkceSent(otherFault?.verdict === 'problem')] : [shown];
}

function wrongPkce({ pkce }: Provider, { describe }: Naming): Finding {
  return problem(
    'PKCE',
    pkce ? 'the provider refuses requests with PKCE' : 'the provider requires PKCE',
    `set ${describe('pkce')} to ${pkce ? 'off' : 'on'}`,
  );
}

function pkceSent(refusedWithout: boolean): Finding {
  return refusedWithout
    ? ok('PKCE', 'sent, and required by the provider')
    : notChecked('PKCE', 'sent; only a login shows whether the provider enforces it', null);
}
