import type Router from '@koa/router';
import type { Middleware } from 'koa';
import type { Clock } from '../clock.ts';
import { allow } from '../http/allow.ts';
import type { RequestState } from '../http/context.ts';
import { answerOAuthErrors } from '../routes/front-end-endpoint.ts';
import { metadataPaths, serverMetadata } from '../routes/metadata.ts';
import { redeemCode } from '../routes/redeem-code.ts';
import { refreshLogin } from '../routes/refresh-login.ts';
import { revocationEndpoint } from '../routes/revoke.ts';
import { tokenEndpoint } from '../routes/token.ts';
import type { ServedRegistration } from './served-registrations.ts';

/** What the endpoints of every registration need. */
export interface EndpointContext {
  /** The rate limit, if there is one. */
  readonly limited: readonly Middleware[];
  readonly now: Clock;
}

/**
 * Adds the endpoints of the relay as an authorization server, besides the start of a login.
 *
 * @param baseUrl the relay's public address
 */
export function addOAuthEndpoints(
  router: Router<RequestState>,
  served: ServedRegistration,
  baseUrl: string,
  { limited, now }: EndpointContext,
): void {
  const { registration, frontEnds, grants, issuer } = served;
  const path = `/auth/${registration.name}`;
  const tokenUrl = `${issuer}/token`;
  const grantTypes = {
    authorization_code: redeemCode(registration, grants, tokenUrl, now),
    refresh_token: refreshLogin(registration, grants, tokenUrl, now),
  };
  router.all(
    `${path}/token`,
    answerOAuthErrors,
    allow('POST'),
    ...limited,
    tokenEndpoint(frontEnds, grantTypes, grants.nonces),
  );
  router.all(
    `${path}/revoke`,
    answerOAuthErrors,
    allow('POST'),
    ...limited,
    revocationEndpoint(registration, frontEnds, grants),
  );
  for (const metadataPath of metadataPaths(baseUrl, path)) {
    const describe = serverMetadata(issuer, registration, grants);
    router.all(metadataPath, allow('GET', 'HEAD'), describe);
  }
}
