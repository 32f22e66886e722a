import type { ExtraParameters, Provider, TokenRequestForm } from '../providers/provider.ts';
import type { Secret } from '../sealing/secret.ts';

/** The provider, and the relay as its client. */
export interface RegisteredProvider extends Provider {
  readonly clientId: string;
  readonly clientSecret: Secret;
  /** The relay's callback URL, as it is registered at the provider. */
  readonly callbackUri: string;
}

/** A request to one of the provider's endpoints that ask who the relay is. */
export interface EndpointRequest {
  readonly method: 'POST' | 'DELETE';
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
}

/**
 * Builds a request with a form, and with the client's credentials in it or in the Authorization header.
 * The credentials never travel in the URL: with `query` and `json`, they are in the form.
 *
 * @see RFC 6749 §2.3.1
 */
export function authenticatedForm(client: RegisteredProvider, url: string, fields: ExtraParameters): EndpointRequest {
  const { tokenRequest: method } = client;
  if (!isBasic(method)) return formRequest(client, url, [...clientParameters(client), ...fields]);
  const credentials = basicCredentials(client, method === 'basic' ? formEncode : undefined);
  return formRequest(client, url, fields, { authorization: credentials });
}

/** True if the credentials travel in the Authorization header, and not among the parameters. */
export const isBasic = (form: TokenRequestForm) => form === 'basic' || form === 'basic-raw';

/** Builds a request with a form and without credentials, unless they are among its fields or headers. */
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

/** Builds a request with its fields in a JSON object. A field that comes more than once has a list of its values. */
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

/** The relay's credentials as parameters. @see RFC 6749 §2.3.1 */
export function clientParameters({ clientId, clientSecret }: RegisteredProvider): ExtraParameters {
  return [
    ['client_id', clientId],
    ['client_secret', clientSecret.reveal()],
  ];
}

/**
 * The relay's credentials as the value of an Authorization header.
 *
 * @param encode RFC 6749 form-encodes both values; other protocols take them as they are
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
 * Whether `basic` and `basic-raw` differ for a client. If they do, a server may know only one of them:
 * many do not decode the credentials.
 *
 * @see RFC 6749 §2.3.1
 */
export function encodingChanges({
  clientId,
  clientSecret,
}: Pick<RegisteredProvider, 'clientId' | 'clientSecret'>): boolean {
  return [clientId, clientSecret.reveal()].some((value) => formEncode(value) !== value);
}

/** @see RFC 6749 appendix B */
function formEncode(value: string): string {
  return new URLSearchParams([['', value]]).toString().slice(1);
}
