import { clientSecretCredential } from '../config/client-secret.ts';
import { changesWhenEncoded } from '../oauth/client-authentication.ts';
import { explainMissingToken } from '../oauth/token-error.ts';
import { buildTokenRequest } from '../oauth/token-request.ts';
import { parseTokenAnswer } from '../oauth/token-response-format.ts';
import type { TokenRequestForm } from '../providers/provider.ts';
import { refusedCredentials } from '../providers/refusals.ts';
import { github } from '../providers/source-code-hosts.ts';
import { Secret, UnseenSecret } from '../sealing/secret.ts';
import type { UpstreamResponse } from '../upstream/messages.ts';
import { ask, explainWrongEndpoint } from './answer.ts';
import { adviseOnUrl, madeUp, madeUpVerifier, type ProviderContext } from './context.ts';
import { type Finding, findingsOn } from './finding.ts';

const endpoint = findingsOn('token endpoint');

/** The part of a token request that a provider refuses, as far as it tells. With `code`, it has accepted the client. */
type Refusal = 'code' | 'unknown' | keyof ReturnType<typeof explainRefusals>;

/** The forms of RFC 6749 §2.3.1. A provider that refuses something else in one of them may have accepted the client. */
const standardForms = ['basic', 'body'] as const;

/** What the answer to each form of the request means; a finding if no token endpoint answers like that. */
type ResultsByForm = ReadonlyMap<TokenRequestForm, Refusal | Finding>;

/**
 * Sends a token request with a made-up code, in the configured form and then in the others, until the provider accepts
 * the client. Credentials are only in a query if that is configured, because queries end up in logs.
 */
export async function checkTokenEndpoint(context: ProviderContext): Promise<Finding> {
  const { registration, provider } = context;
  if (registration.clientSecret instanceof UnseenSecret) {
    return endpoint.notChecked('not asked: this command does not have the client secret');
  }
  const fix = adviseOnUrl(context, 'tokenUrl');
  const codeVerifier = provider.pkce ? madeUpVerifier : undefined;
  const request = (form: TokenRequestForm, clientSecret: Secret) => {
    const client = { ...provider, ...registration, clientSecret, tokenRequest: form };
    const grant = { code: madeUp, codeVerifier };
    return ask(context, { endpoint: 'token', ...buildTokenRequest(client, grant) });
  };
  const configured = provider.tokenRequest;
  // Try Basic without encoding only if that differs and is possible: RFC 7617 §2 allows no colon in a user name.
  const rawDiffers = changesWhenEncoded(registration) && !registration.clientId.includes(':');
  const others = ['body', 'basic', ...(rawDiffers ? (['basic-raw'] as const) : []), 'json'] as const;
  // GitHub documents the query. For other providers it is only the contract's default, and another form is better.
  const seeksOther = configured === 'query' && provider.tokenUrl !== github.provider.tokenUrl;
  const readings = new Map<TokenRequestForm, Refusal | Finding>();
  for (const form of new Set([configured, ...others])) {
    const answer = await request(form, registration.clientSecret);
    if ('fix' in answer) return endpoint.problem(answer.message, answer.fix);
    const reading = readResult(answer, fix);
    readings.set(form, reading);
    if (reading === 'code' && !(form === configured && seeksOther)) break;
  }
  const finding = judgeForms(context, readings);
  if (finding.verdict !== 'ok') return finding;
  // A provider that only refuses the code, even with a made-up secret, has not checked the secret.
  const answer = await request(configured, new Secret(madeUp));
  return 'status' in answer && readResult(answer, fix) === 'code'
    ? notShown(context, 'the provider refuses the code first, so it does not show')
    : finding;
}

/** Reads what an answer refuses. A provider refuses the code only after it has accepted the client. */
function readResult(answer: UpstreamResponse, fix: string): Refusal | Finding {
  const misplaced = explainWrongEndpoint(endpoint, answer, fix);
  if (misplaced !== undefined) return misplaced;
  const { access_token, error, error_description, message } = parseTokenAnswer(answer.body) ?? {};
  if (access_token !== undefined) {
    return endpoint.problem('gives a token for a made-up code: anyone could log in', fix);
  }
  const { code, providerError } = explainMissingToken(answer);
  if (code === 'code_refused') return 'code';
  if (code === 'redirect_uri_refused') return 'redirect_uri';
  const isBare401 = answer.status === 401 && providerError === undefined;
  if (code !== 'client_refused' && !isBare401) return 'unknown';
  // A known text names one credential; a code may mean either.
  const [byText, byCode] = [error_description ?? message, error].map((said) => refusedCredentials[`${said}`]);
  return byText ?? byCode ?? 'credentials';
}

/** Concludes that the configured form works, that another one does, why none does, or that nothing shows. */
function judgeForms(context: ProviderContext, readings: ResultsByForm): Finding {
  const { provider, describe } = context;
  const configured = provider.tokenRequest;
  const own = readings.get(configured) ?? 'unknown';
  const other = [...readings.keys()].find((form) => form !== configured && readings.get(form) === 'code');
  const useOther = `set ${describe('tokenRequest')} to ${other}`;
  if (own === 'code') {
    const message = `accepts client identifier and secret in the form "${configured}"`;
    return other === undefined
      ? endpoint.ok(message)
      : endpoint.warning(`${message}, which puts the secret into URLs`, useOther);
  }
  if (other !== undefined) {
    const message = `the provider does not accept the token request in the form "${configured}"`;
    return endpoint.problem(message, useOther);
  }
  return judgeRefusals(context, readings, own);
}

/** Says why no form works, as far as the answers show it. @param own what the answer to the configured form refuses */
function judgeRefusals(context: ProviderContext, readings: ResultsByForm, own: Refusal | Finding): Finding {
  const { provider, describe } = context;
  const found: readonly unknown[] = [...readings.values()];
  const causes = Object.entries(explainRefusals(context, [...readings.keys()]));
  const [, refusal] = causes.find(([cause]) => found.includes(cause)) ?? [];
  // If only another form was refused, the refusal may concern that form.
  if (refusal === undefined || own === 'unknown') {
    return typeof own === 'object' ? own : notShown(context, 'the answers do not say');
  }
  const isOfClient = typeof own === 'string' && own !== 'redirect_uri';
  const possible = isOfClient ? standardForms.find((form) => readings.get(form) === 'unknown') : undefined;
  if (possible === undefined) return endpoint.problem(`the provider ${refusal[0]}`, refusal[1]);
  return endpoint.problem(
    `the provider refuses the client in the form "${provider.tokenRequest}", and something else in the form "${possible}"`,
    `set ${describe('tokenRequest')} to ${possible}, and see with check --login what is missing then; or ${refusal[1]}`,
  );
}

/** Messages and fixes by what is refused, the most specific first. */
function explainRefusals(context: ProviderContext, forms: readonly TokenRequestForm[]) {
  const { registration, describe } = context;
  const identifier = describe('clientId');
  const source = describeClientSecret(context);
  const secret = `correct the secret in ${source}`;
  const register = `register exactly ${registration.callbackUri} as callback URL`;
  const tried = `(tried: ${forms.join(', ')})`;
  return {
    redirect_uri: ['does not accept the redirect URI', `${register}, or correct ${describe('baseUrl')}`],
    secret: ['does not accept the client secret', secret],
    identifier: ['does not know the client identifier', `correct ${identifier}`],
    credentials: [
      `does not accept the client identifier with this client secret ${tried}`,
      `${secret}, or ${identifier}`,
    ],
    client: [
      `refuses the client without saying why ${tried}`,
      `compare the secret in ${source}, ${identifier}, and the callback URL: ${register}; allow the client the authorization code grant`,
    ],
  } as const;
}

/** Names the source of the client secret. */
function describeClientSecret({ config, registration, sourceOf, describe }: ProviderContext) {
  if (sourceOf('clientSecretFile')) return `the file of ${describe('clientSecretFile')}`;
  if (sourceOf('clientSecret')) return describe('clientSecret');
  const name = config.registrationsAreNamed ? registration.name : undefined;
  return `the systemd credential ${clientSecretCredential(name)}`;
}

/** The finding if the answers do not show whether the settings are right. */
function notShown({ describe }: ProviderContext, reason: string): Finding {
  const settings = `client identifier, secret and ${describe('tokenRequest')}`;
  return endpoint.notChecked(`${reason} whether ${settings} are right`, 'try a login');
}
