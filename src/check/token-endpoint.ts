import type { Config } from '../config/config.ts';
import { describeOption } from '../config/options.ts';
import { parseJsonObject } from '../oauth/json.ts';
import { tokenRequest } from '../oauth/token-request.ts';
import type { Provider, TokenRequest } from '../providers/provider.ts';
import type { ProviderAnswer, ProviderRequest } from '../upstream/client.ts';
import { isHtml, isRedirect } from './answer.ts';
import { type Finding, ok, problem, providerInTrouble, warning } from './finding.ts';
import type { Probe } from './probe.ts';
import { clientUnknown, redirectUriRefused } from './registration.ts';
import { meaningOf, type TokenAnswerMeaning } from './token-error.ts';

const subject = 'token endpoint';

/** A code that no provider has issued: what it says of this one tells what it thinks of the client. */
const madeUpCode = 'login-relay-check';

/** What to change where something of the configuration is wrong. */
export interface TokenEndpointMends {
  readonly url: string;
  /** Where the client secret is given, as the operator is told of it. */
  readonly clientSecret: string;
}

/**
 * Sends a token request with a made-up code, and where the client is refused finds out whether the
 * provider would take its credentials in another way. They never travel in a query unless that is
 * configured: queries end up in logs.
 */
export async function examineTokenEndpoint(
  probe: Probe,
  config: Config,
  provider: Provider,
  codeVerifier: string | undefined,
  mend: TokenEndpointMends,
): Promise<Finding> {
  const requestIn = (way: TokenRequest): ProviderRequest => ({
    endpoint: 'token',
    ...tokenRequest(
      { ...provider, ...config, tokenRequest: way },
      { code: madeUpCode, codeVerifier },
    ),
  });

  const otherWays = (['body', 'basic'] as const).filter((way) => way !== provider.tokenRequest);

  const probed = await probe(subject, requestIn(provider.tokenRequest));
  if ('finding' in probed) return probed.finding;
  const misplaced = judgeKind(probed.answer, mend.url);
  if (misplaced !== undefined) return misplaced;
  const meaning = meaningOf(probed.answer);
  if (meaning === 'client_refused' || meaning === 'request_not_understood') {
    for (const way of otherWays) if (await accepts(way)) return notInThisWay(way);
  }
  return explain(meaning, probed.answer);

  function notInThisWay(...ways: readonly TokenRequest[]): Finding {
    return problem(
      subject,
      `the provider does not take the token request in the way "${provider.tokenRequest}"`,
      `set ${describeOption('tokenRequest')} to ${ways.join(' or ')}`,
    );
  }

  async function accepts(way: TokenRequest): Promise<boolean> {
    const other = await probe(subject, requestIn(way));
    return 'answer' in other && meaningOf(other.answer) === 'code_unknown';
  }

  function explain(meaning: TokenAnswerMeaning, { status }: ProviderAnswer): Finding {
    switch (meaning) {
      case 'code_unknown':
        return ok(subject, 'accepts the client identifier and secret');
      case 'client_unknown':
        return clientUnknown(subject);
      case 'client_refused':
        return problem(
          subject,
          'the provider does not accept the client secret for this client identifier',
          `correct the secret in ${mend.clientSecret}, or ${describeOption('clientId')}`,
        );
      case 'redirect_uri_refused':
        return redirectUriRefused(subject, config.redirectUri);
      case 'request_not_understood':
        return notInThisWay(...otherWays);
      case 'unclear':
        return warning(
          subject,
          `what answers tells nothing about client identifier and secret (status ${status})`,
          'try a login',
        );
    }
  }
}

/** Judges whether it is a token endpoint that answers. */
function judgeKind(answer: ProviderAnswer, mendUrl: string): Finding | undefined {
  const { status, body } = answer;
  if (status >= 500 || status === 429) return providerInTrouble(subject, status);
  if (isRedirect(answer)) {
    return problem(subject, 'redirects elsewhere, where the relay sends no secret', mendUrl);
  }
  if (status === 404 || status === 405) {
    return problem(
      subject,
      `nothing there takes the request (status ${status})`,
      `${mendUrl}; some providers answer so to an unknown ${describeOption('clientId')}`,
    );
  }
  if (isHtml(answer))
    return problem(subject, `answers with a page for people (status ${status})`, mendUrl);
  if (parseJsonObject(body)?.['access_token'] !== undefined) {
    return problem(subject, 'gives a token for a made-up code: anyone could log in', mendUrl);
  }
  return undefined;
}
