import type { ExtraParameters, Provider, TokenRequestForm } from '../providers/provider.ts';
import type { Secret } from '../sealing/secret.ts';

/** A provider with the relay's registration there. */
export interface RegisteredProvider extends Provider {
  readonly clientId: string;
  readonly clientSecret: Secret;
  readonly callbackUri: string;
}

/** A request to an endpoint of the provider at which the relay authenticates. */
export interface ProviderRequest {
  readonly method: 'POST' | 'DELETE';
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
}

/**
 * Builds a request with a form and the relay's credentials, which are never in the URL. A provider that takes the
 * credentials as `query` or `json` at its token endpoint gets them in the form here.
 *
 * @see RFC 6749 §2.3.1
 */
export function buildAuthenticatedForm(
  provider: RegisteredProvider,
  url: string,
  fields: ExtraParameters,
): ProviderRequest {
  const { tokenRequest: method } = provider;
  if (!isBasic(method)) return buildFormRequest(provider, url, [...clientParameters(provider), ...fields]);
  const credentials = basicCredentials(provider, method === 'basic' ? formEncode : undefined);
  return buildFormRequest(provider, url, fields, { authorization: credentials });
}

/** Whether the credentials are in the Authorization header, instead of the parameters. */
export const isBasic = (form: TokenRequestForm) => form === 'basic' || form === 'basic-raw';

/** Builds a request with a form. Credentials can only come from `fields` and headers. */
export function buildFormRequest(
  { requestHeaders }: RegisteredProvider,
  url: string,
  fields: ExtraParameters,
  headers: Readonly<Record<string, string>> = {},
): ProviderRequest {
  return {
    method: 'POST',
    url,
    headers: { ...requestHeaders, ...headers, 'content-type': 'application/x-www-form-urlencoded' },
    body: new URLSearchParams(fields).toString(),
  };
}

/** Builds a request with a JSON object. A repeated field becomes a list. */
export function buildJsonRequest(
  { requestHeaders }: RegisteredProvider,
  url: string,
  fields: ExtraParameters,
): ProviderRequest {
  const values = new Map<string, string | string[]>();
  for (const [name, value] of fields) {
    const earlier = values.get(name);
    values.set(name, earlier === undefined ? value : [earlier, value].flat());
  }
  return {
    method: 'POST',
    url,
    headers: { ...requestHeaders, 'content-type': 'application/json' },
    body: JSON.stringify(Object.fromEntries(values)),
  };
}

/** Returns the relay's credentials as parameters. */
export function clientParameters({ clientId, clientSecret }: RegisteredProvider): ExtraParameters {
  return [
    ['client_id', clientId],
    ['client_secret', clientSecret.reveal()],
  ];
}

/**
 * Returns the relay's credentials as an Authorization header.
 *
 * @param encode encodes both values (default: not at all). RFC 6749 form-encodes them
 * @see RFC 7617 §2
 */
export function basicCredentials(
  { clientId, clientSecret }: RegisteredProvider,
  encode = (value: string) => value,
): string {
  const credentials = `${encode(clientId)}:${encode(clientSecret.reveal())}`;
  return `Basic ${Buffer.from(credentials).toString('base64')}`;
}

/**
 * Whether `basic` and `basic-raw` differ for these credentials. If so, a server may accept only one of them, because
 * many do not decode.
 *
 * @see RFC 6749 §2.3.1
 */
export function changesWhenEncoded({
  clientId,
  clientSecret,
}: Pick<RegisteredProvider, 'clientId' | 'clientSecret'>): boolean {
  return [clientId, clientSecret.reveal()].some((value) => formEncode(value) !== value);
}

/** Encodes a value as in a form. @see RFC 6749 appendix B */
function formEncode(value: string): string {
  const form = new URLSearchParams([['', value]]).toString();
  // Remove the `=` after the empty name.
  return form.slice(1);
}
