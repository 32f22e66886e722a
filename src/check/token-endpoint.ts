import { clientSecretCredential } from '../config/client-secret.ts';
import type { RegistrationConfig } from '../config/config.ts';
import { changesWhenEncoded } from '../oauth/client-authentication.ts';
import { explainMissingToken } from '../oauth/token-error.ts';
import { buildTokenRequest } from '../oauth/token-request.ts';
import { parseTokenAnswer } from '../oauth/token-response-format.ts';
import { refusedCredentials } from '../providers/error-codes.ts';
import type { TokenRequestForm } from '../providers/provider.ts';
import { github } from '../providers/source-code-hosts.ts';
import { Secret, UnseenSecret } from '../sealing/secret.ts';
import type { UpstreamResponse } from '../upstream/messages.ts';
import { ask, explainWrongEndpoint } from './answer.ts';
import { adviseOnUrl, madeUp, madeUpVerifier, type ProviderContext } from './context.ts';
import { type Finding, findingsOn } from './finding.ts';

const endpoint = findingsOn('token endpoint');

/** The part of a token request that a provider refuses, as far as it says so. With `code`, it has accepted the client. */
type Refusal = 'code' | 'unknown' | keyof ReturnType<typeof explainRefusals>;

/** The forms of RFC 6749 §2.3.1. A provider that refuses something else in one of them may have accepted the client. */
const standardForms = ['basic', 'body'] as const;

/** The refusals by the form of the request. There is a finding instead if no token endpoint would answer like that. */
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
  const sendRequest = (form: TokenRequestForm, clientSecret: Secret) => {
    const client = { ...provider, ...registration, clientSecret, tokenRequest: form };
    const grant = { code: madeUp, codeVerifier };
    return ask(context, { endpoint: 'token', ...buildTokenRequest(client, grant) });
  };
  const configured = provider.tokenRequest;
  const basicForms: readonly TokenRequestForm[] = isBasicRawDifferent(registration)
    ? ['basic', 'basic-raw']
    : ['basic'];
  // GitHub documents the query. For other providers it is only the contract's default, and another form is better.
  const isOtherFormBetter = configured === 'query' && provider.tokenUrl !== github.provider.tokenUrl;
  const results = new Map<TokenRequestForm, Refusal | Finding>();
  for (const form of new Set<TokenRequestForm>([configured, 'body', ...basicForms, 'json'])) {
    const answer = await sendRequest(form, registration.clientSecret);
    if ('fix' in answer) return endpoint.problem(answer.message, answer.fix);
    const result = readResult(answer, fix);
    results.set(form, result);
    if (result === 'code' && !(form === configured && isOtherFormBetter)) break;
  }
  const finding = judgeForms(context, results);
  if (finding.verdict !== 'ok') return finding;
  // A provider that only refuses the code, even with a made-up secret, has not checked the secret.
  const answer = await sendRequest(configured, new Secret(madeUp));
  return 'status' in answer && readResult(answer, fix) === 'code'
    ? notShown(context, 'the provider refuses the code first, so it does not show')
    : finding;
}

/**
 * Whether Basic without form-encoding is possible, and differs from Basic as RFC 6749 has it. Basic cannot carry a colon
 * in the client identifier. @see RFC 7617 §2
 */
export function isBasicRawDifferent(registration: RegistrationConfig): boolean {
  return changesWhenEncoded(registration) && !registration.clientId.includes(':');
}

/** Reads which part of the request an answer refuses. */
function readResult(answer: UpstreamResponse, fix: string): Refusal | Finding {
  const wrongEndpoint = explainWrongEndpoint(endpoint, answer, fix);
  if (wrongEndpoint !== undefined) return wrongEndpoint;
  const { access_token, error, error_description, message } = parseTokenAnswer(answer.body) ?? {};
  if (access_token !== undefined) {
    return endpoint.problem('gives a token for a made-up code: anyone could log in', fix);
  }
  const { code, providerError } = explainMissingToken(answer);
  if (code === 'code_refused') return 'code';
  if (code === 'redirect_uri_refused') return 'redirect_uri';
  const isBare401 = answer.status === 401 && providerError === undefined;
  if (code !== 'client_refused' && !isBare401) return 'unknown';
  // A known text tells more than a known code, such as `unauthorized_client`. A refusal that is not known may concern
  // the identifier or the secret.
  const byText = refusedCredentials[`${error_description ?? message}`];
  return byText ?? refusedCredentials[`${error}`] ?? 'credentials';
}

/** Says that the configured form works, or that another form does, or why none does, or that nothing shows. */
function judgeForms(context: ProviderContext, results: ResultsByForm): Finding {
  const { provider, describe } = context;
  const configured = provider.tokenRequest;
  const ofConfigured = results.get(configured) ?? 'unknown';
  const other = [...results.keys()].find((form) => form !== configured && results.get(form) === 'code');
  const useOther = `set ${describe('tokenRequest')} to ${other}`;
  if (ofConfigured === 'code') {
    const message = `accepts client identifier and secret in the form "${configured}"`;
    return other === undefined
      ? endpoint.ok(message)
      : endpoint.warning(`${message}, which puts the secret into URLs`, useOther);
  }
  if (other !== undefined) {
    const message = `the provider does not accept the token request in the form "${configured}"`;
    return endpoint.problem(message, useOther);
  }
  return judgeRefusals(context, results, ofConfigured);
}

/** Says why no form works, as far as the answers show it. @param ofConfigured the result of the configured form */
function judgeRefusals(context: ProviderContext, results: ResultsByForm, ofConfigured: Refusal | Finding): Finding {
  const { provider, describe } = context;
  const found: readonly unknown[] = [...results.values()];
  const explanations = Object.entries(explainRefusals(context, [...results.keys()]));
  const [, mostSpecific] = explanations.find(([refusal]) => found.includes(refusal)) ?? [];
  // If only another form was refused, the refusal may concern that form.
  if (mostSpecific === undefined || ofConfigured === 'unknown') {
    return typeof ofConfigured === 'object' ? ofConfigured : notShown(context, 'the answers do not say');
  }
  const [message, fix] = mostSpecific;
  const isOfClient = typeof ofConfigured === 'string' && ofConfigured !== 'redirect_uri';
  const promising = isOfClient ? standardForms.find((form) => results.get(form) === 'unknown') : undefined;
  if (promising === undefined) return endpoint.problem(`the provider ${message}`, fix);
  return endpoint.problem(
    `the provider refuses the client in the form "${provider.tokenRequest}", and something else in the form "${promising}"`,
    `set ${describe('tokenRequest')} to ${promising}, and see with check --login what is missing then; or ${fix}`,
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

/** Makes the finding for answers that do not show whether the settings are right. */
function notShown({ describe }: ProviderContext, reason: string): Finding {
  const settings = `client identifier, secret and ${describe('tokenRequest')}`;
  return endpoint.notChecked(`${reason} whether ${settings} are right`, 'try a login');
}
