import type { LoginConfig } from '../config/login-config.ts';
import { type Naming, standIn } from '../config/reading.ts';
import { encodingChanges } from '../oauth/client-authentication.ts';
import { parseJsonObject } from '../oauth/json.ts';
import { tokenRequest } from '../oauth/token-request.ts';
import { github } from '../providers/github.ts';
import type { ClientAuthentication, Provider } from '../providers/provider.ts';
import { Secret } from '../secret.ts';
import type { UpstreamResponse } from '../upstream/messages.ts';
import { wrongKind } from './answer.ts';
import { describeClientSecret } from './client-secret-source.ts';
import { type Finding, notChecked, ok, problem, warning } from './finding.ts';
import { fixUrl } from './fix-url.ts';
import type { Probe } from './probe.ts';
import { type TokenRefusal, tokenRefusal } from './token-refusal.ts';

const subject = 'token endpoint';

/** A code that no provider has issued. A provider that refuses only the code has accepted the client. */
const madeUpCode = 'login-relay-check';

/** A provider that refuses only the code, even with this secret, has not checked the secret. */
const madeUpSecret = new Secret('login-relay-check');

/** What the answer to one form of the request says. A finding: this is not the answer of a token endpoint. */
type Reading = TokenRefusal | Finding;

/**
 * Sends a token request with a made-up code, in the configured form and then in the others until the
 * provider accepts the client. The credentials never travel in a query unless that is configured:
 * queries end up in logs.
 *
 * @param codeVerifier a made-up one
 */
export async function checkTokenEndpoint(
  probe: Probe,
  config: LoginConfig,
  provider: Provider,
  codeVerifier: string,
  naming: Naming,
): Promise<Finding> {
  if (config.clientSecret.reveal() === standIn) {
    return notChecked(subject, 'not asked: this command does not have the client secret', null);
  }
  const fix = fixUrl('tokenUrl', naming);
  const ask = (form: ClientAuthentication, clientSecret: Secret) => {
    const endpoint = { ...provider, ...config, clientSecret, clientAuthentication: form };
    const grant = { code: madeUpCode, codeVerifier: provider.pkce ? codeVerifier : undefined };
    return probe({ endpoint: 'token', ...tokenRequest(endpoint, grant) });
  };
  const configured = provider.clientAuthentication;
  // GitHub documents the query. Elsewhere it is only the contract's default.
  const wantsOther = configured === 'query' && provider.tokenUrl !== github.tokenUrl;
  const readings = new Map<ClientAuthentication, Reading>();
  for (const form of formsToTry(config, configured)) {
    const probed = await ask(form, config.clientSecret);
    if ('unreached' in probed) {
      return problem(subject, probed.unreached.message, probed.unreached.fix);
    }
    const reading = read(probed.answer, fix);
    readings.set(form, reading);
    if (reading === 'code' && !(form === configured && wantsOther)) break;
  }
  const finding = judge(readings, configured, config, naming);
  if (finding.verdict !== 'ok') return finding;
  const control = await ask(configured, madeUpSecret);
  const tellsNothing = 'answer' in control && read(control.answer, fix) === 'code';
  return tellsNothing
    ? unknown('the provider refuses the code first, so it does not show', naming)
    : finding;
}

/** The configured form first; both forms of Basic only if they differ. */
function formsToTry(
  config: LoginConfig,
  configured: ClientAuthentication,
): ReadonlySet<ClientAuthentication> {
  // RFC 7617 §2: a user name has no colon.
  const differ = encodingChanges(config) && !config.clientId.includes(':');
  return new Set([configured, 'body', 'basic', ...(differ ? (['basic-raw'] as const) : [])]);
}

function read(answer: UpstreamResponse, fixUrl: string): Reading {
  const misplaced = wrongKind(subject, answer, fixUrl);
  if (misplaced !== undefined) return misplaced;
  const token = parseJsonObject(answer.body)?.['access_token'];
  if (token === undefined) return tokenRefusal(answer);
  return problem(subject, 'gives a token for a made-up code: anyone could log in', fixUrl);
}

function judge(
  readings: ReadonlyMap<ClientAuthentication, Reading>,
  configured: ClientAuthentication,
  { redirectUri, pathName, registrationsAreNamed }: LoginConfig,
  naming: Naming,
): Finding {
  const own = readings.get(configured) ?? 'unknown';
  const other = [...readings.keys()].find(
    (form) => form !== configured && readings.get(form) === 'code',
  );
  const useOther = `set ${naming.describe('tokenRequest')} to ${other}`;
  if (own === 'code') {
    const message = `accepts client identifier and secret in the form "${configured}"`;
    return other === undefined
      ? ok(subject, message)
      : warning(subject, `${message}, which puts the secret into URLs`, useOther);
  }
  if (other !== undefined) {
    const message = `the provider does not accept the token request in the form "${configured}"`;
    return problem(subject, message, useOther);
  }
  const identifier = naming.describe('clientId');
  const source = describeClientSecret(naming, registrationsAreNamed ? pathName : undefined);
  const secret = `correct the secret in ${source}`;
  const register = `register exactly ${redirectUri} as callback URL`;
  const tried = `(tried: ${[...readings.keys()].join(', ')})`;
  /** The most specific first. */
  const refusals: readonly (readonly [TokenRefusal, message: string, fix: string])[] = [
    [
      'redirect_uri',
      'does not accept the redirect URI',
      `${register}, or correct ${naming.describe('baseUrl')}`,
    ],
    ['secret', 'does not accept the client secret', secret],
    ['identifier', 'does not know the client identifier', `correct ${identifier}`],
    [
      'credentials',
      `does not accept the client identifier with this client secret ${tried}`,
      `${secret}, or ${identifier}`,
    ],
    [
      'client',
      `refuses the client without saying why ${tried}`,
      `compare the secret in ${source}, ${identifier}, and the callback URL: ${register}; allow the client the authorization code grant`,
    ],
  ];
  const said = [...readings.values()];
  const refusal = refusals.find(([what]) => said.includes(what));
  // A refusal of another form may be about the form itself.
  if (refusal !== undefined && own !== 'unknown') {
    return problem(subject, `the provider ${refusal[1]}`, refusal[2]);
  }
  if (typeof own === 'object') return own;
  return unknown('the answers do not say', naming);
}

function unknown(reason: string, naming: Naming): Finding {
  const settings = `client identifier, secret and ${naming.describe('tokenRequest')}`;
  return notChecked(subject, `${reason} whether ${settings} are right`, 'try a login');
}
