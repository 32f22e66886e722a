import type { Config } from '../config/config.ts';
import { describeOption } from '../config/options.ts';
import { parseJsonObject } from '../oauth/json.ts';
import { tokenError } from '../oauth/token-error.ts';
import { tokenRequest } from '../oauth/token-request.ts';
import type { Provider, TokenRequest } from '../providers/provider.ts';
import type { UpstreamRequest, UpstreamResponse } from '../upstream/client.ts';
import { wrongKind } from './answer.ts';
import { type Finding, notChecked, ok, problem } from './finding.ts';
import type { Probe } from './probe.ts';

const subject = 'token endpoint';

/** A code that no provider has issued: a provider that refuses only the code accepts the client. */
const madeUpCode = 'login-relay-check';

/** What to change if something of the configuration is wrong. */
export interface TokenEndpointFixes {
  readonly url: string;
  /** Where the client secret is given. */
  readonly clientSecret: string;
}

/**
 * Sends a token request with a made-up code. If the client is refused, finds out whether the provider
 * accepts its credentials in another form. They never travel in a query unless that is configured:
 * queries end up in logs.
 */
export async function checkTokenEndpoint(
  probe: Probe,
  config: Config,
  provider: Provider,
  codeVerifier: string | undefined,
  fix: TokenEndpointFixes,
): Promise<Finding> {
  const requestIn = (form: TokenRequest): UpstreamRequest => ({
    endpoint: 'token',
    ...tokenRequest(
      { ...provider, ...config, tokenRequest: form },
      { code: madeUpCode, codeVerifier },
    ),
  });
  const probed = await probe(requestIn(provider.tokenRequest));
  if ('unreached' in probed)
    return problem(subject, probed.unreached.message, probed.unreached.fix);
  const misplaced = wrongKind(subject, probed.answer, fix.url);
  if (misplaced !== undefined) return misplaced;
  if (parseJsonObject(probed.answer.body)?.['access_token'] !== undefined) {
    return problem(subject, 'gives a token for a made-up code: anyone could log in', fix.url);
  }

  const refusal = refusalIn(probed.answer);
  if (refusal === 'code') return ok(subject, 'accepts the client identifier and secret');
  if (refusal === 'redirect_uri') {
    return problem(
      subject,
      'the provider does not accept the redirect URI',
      `register exactly ${config.redirectUri} as callback URL, or correct ${describeOption('baseUrl')}`,
    );
  }
  for (const form of (['body', 'basic'] as const).filter((one) => one !== provider.tokenRequest)) {
    const other = await probe(requestIn(form));
    if (!('answer' in other) || refusalIn(other.answer) !== 'code') continue;
    return problem(
      subject,
      `the provider does not take the token request in the form "${provider.tokenRequest}"`,
      `set ${describeOption('tokenRequest')} to ${form}`,
    );
  }
  if (refusal === 'client') {
    return problem(
      subject,
      'the provider does not accept the client identifier with this client secret',
      `correct the secret in ${fix.clientSecret}, or ${describeOption('clientId')}`,
    );
  }
  return notChecked(
    subject,
    `the answer does not say whether client identifier and secret are right (status ${probed.answer.status})`,
    'try a login',
  );
}

/** What the provider refuses of a token request with a made-up code. */
function refusalIn(answer: UpstreamResponse): 'code' | 'client' | 'redirect_uri' | 'unknown' {
  const { code, providerError } = tokenError(answer);
  if (code === 'code_refused') return 'code';
  if (code === 'redirect_uri_refused') return 'redirect_uri';
  const bare = answer.status === 401 && providerError === undefined;
  return code === 'client_refused' || bare ? 'client' : 'unknown';
}
