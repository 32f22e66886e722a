import type { IncomingHttpHeaders } from 'node:http';
import { RelayError } from '../failures/relay-error.ts';
import { type JsonObject, parseJsonObject } from './json.ts';
import { expectFewParameters, parseQuery } from './query.ts';

/** The parameters that the relay's endpoints accept in a body. */
const parameterNames = [
  'client_assertion',
  'client_assertion_type',
  'client_id',
  'client_secret',
  'code',
  'code_verifier',
  'consent',
  'decision',
  'grant_type',
  'number',
  'prompt',
  'provider',
  'redirect_uri',
  'refresh_token',
  'resource',
  'scope',
  'state',
  'token',
] as const;

/** The parameters of a request. An empty one counts as absent. @see RFC 6749 §3.2 */
export type EndpointParameters = Readonly<Partial<Record<(typeof parameterNames)[number], string>>>;

/**
 * Parses the body of a request: a form or a JSON object. Parameters with other names are ignored.
 *
 * @throws {RelayError} `content_type_unsupported`, `parameters_too_many`, or `token_request_invalid` if the
 *   body is malformed or a parameter is repeated or not text
 * @see RFC 6749 §3.2 and §4.1.3
 */
export function parseEndpointParameters(
  headers: Pick<IncomingHttpHeaders, 'content-type' | 'content-encoding'>,
  body: Buffer,
): EndpointParameters {
  if (headers['content-encoding'] !== undefined) throw new RelayError('content_type_unsupported');
  // Ignore a charset, because both formats are always UTF-8.
  const type = headers['content-type']?.split(';')[0]?.trim().toLowerCase();
  const fields = readFields(type, body);
  const parameters: { -readonly [Name in keyof EndpointParameters]: string } = {};
  for (const name of parameterNames) {
    const value = Object.hasOwn(fields, name) ? fields[name] : undefined;
    if (value === undefined || value === '') continue;
    const isUsable = typeof value === 'string' && value.isWellFormed();
    if (!isUsable) throw new RelayError('token_request_invalid');
    parameters[name] = value;
  }
  return parameters;
}

/** Reads the fields of a form or a JSON object. */
function readFields(type: string | undefined, body: Buffer): JsonObject {
  if (type === 'application/x-www-form-urlencoded') {
    // Latin-1 keeps raw bytes beyond ASCII, which `parseQuery` treats as undecodable.
    const form = body.toString('latin1');
    expectFewParameters(form);
    return parseQuery(form);
  }
  if (type !== 'application/json') throw new RelayError('content_type_unsupported');
  const object = parseJsonObject(body);
  if (object === undefined) throw new RelayError('token_request_invalid');
  return object;
}
