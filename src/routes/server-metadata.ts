import type { Middleware } from 'koa';
import type { Served } from '../front-ends/front-ends.ts';
import { proofAlgorithms } from '../grants/dpop-proofs.ts';
import { assertionAlgorithms } from '../oauth/public-keys.ts';

const wellKnown = '/.well-known/oauth-authorization-server';

/**
 * The paths of the metadata, with and without the path of the base URL, because a proxy may keep or remove it.
 *
 * @param loginPath the path of the issuer below the base URL
 * @see RFC 8414 §3.1
 */
export function metadataPaths(baseUrl: string, loginPath: string): ReadonlySet<string> {
  const basePath = new URL(baseUrl).pathname.replace(/\/$/, '');
  return new Set([wellKnown + loginPath, wellKnown + basePath + loginPath]);
}

/**
 * `GET /.well-known/oauth-authorization-server/auth/<registration>`: describes the relay to OAuth clients, on any page.
 *
 * @see RFC 8414 §2, RFC 9207 §3, RFC 9449 §5.1
 */
export function serverMetadata({ issuer, registration, frontEnds, doors }: Served): Middleware {
  const { clients, grantTypes } = frontEnds;
  const authentication = authenticationMethods(frontEnds);
  const resourceScopes = doors.map(({ resource }) => resource.scope);
  const metadata = {
    issuer,
    authorization_endpoint: issuer,
    token_endpoint: `${issuer}/token`,
    token_endpoint_auth_methods_supported: authentication.methods,
    token_endpoint_auth_signing_alg_values_supported: authentication.algorithms,
    revocation_endpoint: `${issuer}/revoke`,
    revocation_endpoint_auth_methods_supported: authentication.methods,
    revocation_endpoint_auth_signing_alg_values_supported: authentication.algorithms,
    ...(doors.some(({ resource }) => resource.secrets.length > 0) && {
      introspection_endpoint: `${issuer}/introspect`,
      introspection_endpoint_auth_methods_supported: ['client_secret_basic', 'client_secret_post'],
    }),
    response_types_supported: ['code'],
    response_modes_supported: ['query'],
    grant_types_supported: grantTypes,
    code_challenge_methods_supported: ['S256'],
    authorization_response_iss_parameter_supported: true,
    dpop_signing_alg_values_supported: proofAlgorithms,
    ...(clients?.takesDocuments && { client_id_metadata_document_supported: true }),
    ...(clients?.takesNewClients && { registration_endpoint: `${issuer}/register` }),
  };
  return async (ctx) => {
    // For a front end's own origin, the header is set already.
    const header = 'Access-Control-Allow-Origin';
    if (!ctx.res.hasHeader(header)) ctx.set(header, '*');
    const scopes = [registration.current().provider.scope, ...resourceScopes];
    const words = scopes.flatMap((scope) => scope?.split(' ') ?? []);
    ctx.body = {
      ...metadata,
      scopes_supported: words.length > 0 ? [...new Set(words)] : undefined,
    };
  };
}

/** The authentication methods of the token endpoint, and the algorithms of `private_key_jwt`. */
function authenticationMethods({ first, machines }: Served['frontEnds']) {
  const methods: string[] = [];
  // `none` is for the clients of people. It comes first, because some of them take the first method.
  if (first.kind !== 'machine') methods.push('none');
  const haveSecrets = machines.some(({ credentials }) => credentials?.secrets[0]);
  if (haveSecrets) methods.push('client_secret_basic', 'client_secret_post');
  const haveKeys = machines.some(({ credentials }) => credentials?.keys[0]);
  if (haveKeys) methods.push('private_key_jwt');
  return { methods, algorithms: haveKeys ? assertionAlgorithms : undefined };
}
