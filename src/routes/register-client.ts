import type { Clients } from '../clients/clients.ts';
import { readClientName, readRegistrableUris } from '../clients/read-metadata.ts';
import { abbreviateInput, RelayError } from '../failures/relay-error.ts';
import type { Served } from '../front-ends/front-ends.ts';
import { readBody } from '../http/body.ts';
import type { Context, Handler } from '../http/context.ts';
import { parseJsonObject } from '../oauth/json.ts';
import { createOriginMatcher } from '../origins/origin-pattern.ts';
import { pageOriginsOf } from '../origins/redirect-uri.ts';
import { expectOrigin } from './front-end-endpoint.ts';

/** The most refused redirect URIs that the log shows. */
const mostLogged = 5;

/**
 * `POST /auth/<registration>/register`: registers a client without storing it. A page may only register a client of its
 * own, so its origin must be the origin of a redirect URI or of the front end.
 *
 * @see RFC 7591 §3
 */
export function clientRegistrationEndpoint(clients: Clients, { frontEnds: { grantTypes } }: Served): Handler {
  return async (ctx: Context) => {
    if (!ctx.is('json')) throw new RelayError('content_type_unsupported');
    const metadata = parseJsonObject(await readBody(ctx));
    if (metadata === undefined) throw new RelayError('client_metadata_invalid');
    const uris = readRegistrableUris(metadata['redirect_uris'], clients.schemes);
    if (uris === undefined) throw new RelayError('redirect_uris_invalid');
    const { redirectUris, asGiven, leftOut } = uris;
    const asked = leftOut.length === 0 ? undefined : leftOut.slice(0, mostLogged).map(abbreviateInput).join(' ');
    if (redirectUris.length === 0) throw new RelayError('redirect_uris_invalid', { asked });
    ctx.state.asked = asked;
    const { origin } = ctx.req.headers;
    const isOwnOrigin = createOriginMatcher(pageOriginsOf({ origins: clients.origins, redirectUris }));
    if (origin !== undefined) expectOrigin(ctx, isOwnOrigin(origin));
    const client = { redirectUris, name: readClientName(metadata) };
    ctx.body = {
      client_id: await clients.register(client, ctx.req),
      client_name: client.name,
      redirect_uris: asGiven,
      token_endpoint_auth_method: 'none',
      grant_types: grantTypes,
      response_types: ['code'],
    };
    ctx.status = 201;
  };
}
