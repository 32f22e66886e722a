import type { ExtraParameters, Provider, TokenRequestForm } from '../providers/provider.ts';
import type { Secret } from '../sealing/secret.ts';

export interface RegisteredProvider extends Provider {
  readonly clientId: string;
  readonly clientSecret: Secret;
  readonly callbackUri: string;
}

/** A request to an endpoint of the provider at which the relay authenticates. */
export interface EndpointRequest {
  readonly method: 'POST' | 'DELETE';
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
}

/**
 * Builds a request with a form and the relay's credentials. These are never in the URL: with `query` and `json`, they
 * are in the form.
 *
 * @see RFC 6749 §2.3.1
 */
export function authenticatedForm(client: RegisteredProvider, url: string, fields: ExtraParameters): EndpointRequest {
  const { tokenRequest: method } = client;
  if (!isBasic(method)) return formRequest(client, url, [...clientParameters(client), ...fields]);
  const credentials = basicCredentials(client, method === 'basic' ? formEncode : undefined);
  return formRequest(client, url, fields, { authorization: credentials });
}

/** Whether the credentials are in the Authorization header, instead of the parameters. */
export const isBasic = (form: TokenRequestForm) => form === 'basic' || form === 'basic-raw';

/** Builds a request with a form. Credentials can only come from `fields` and headers. */
export function formRequest(
  { requestHeaders }: RegisteredProvider,
  url: string,
  fields: ExtraParameters,
  headers: Readonly<Record<string, string>> = {},
): EndpointRequest {
  const type = { 'content-type': 'application/x-www-form-urlencoded' };
  return {
    method: 'POST',
    url,
    headers: { ...requestHeaders, ...headers, ...type },
    body: new URLSearchParams(fields).toString(),
  };
}

/** Builds a request with a JSON object. A repeated field becomes a list. */
export function jsonRequest(
  { requestHeaders }: RegisteredProvider,
  url: string,
  fields: ExtraParameters,
): EndpointRequest {
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

export function clientParameters({ clientId, clientSecret }: RegisteredProvider): ExtraParameters {
  return [
    ['client_id', clientId],
    ['client_secret', clientSecret.reveal()],
  ];
}

/**
 * The relay's credentials as an Authorization header.
 *
 * @param encode RFC 6749 form-encodes both values; other protocols do not
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
export function encodingChanges({
  clientId,
  clientSecret,
}: Pick<RegisteredProvider, 'clientId' | 'clientSecret'>): boolean {
  return [clientId, clientSecret.reveal()].some((value) => formEncode(value) !== value);
}

function formEncode(value: string): string {
  return new URLSearchParams([['', value]]).toString().slice(1);
}
