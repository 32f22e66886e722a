import type Router from '@koa/router';
import type { Middleware } from 'koa';
import { allow } from '../http/allow.ts';
import type { RequestState } from '../http/context.ts';
import { answerOAuthErrors } from '../routes/front-end-endpoint.ts';
import { metadataPaths, serverMetadata } from '../routes/metadata.ts';
import { redeemCode } from '../routes/redeem-code.ts';
import { refreshLogin } from '../routes/refresh-login.ts';
import { revocationEndpoint } from '../routes/revoke.ts';
import { tokenEndpoint } from '../routes/token.ts';
import type { ServedRegistration } from './served-registrations.ts';

/**
 * Adds the endpoints of the relay as an authorization server, besides the start of a login.
 *
 * @param limited the rate limit, if there is one
 * @param baseUrl the relay's public address
 * @param now milliseconds since 1970
 */
export function addOAuthEndpoints(
  router: Router<RequestState>,
  served: ServedRegistration,
  limited: readonly Middleware[],
  baseUrl: string,
  now: () => number,
): void {
  const { registration, frontEnds, grants, issuer } = served;
  const path = `/auth/${registration.name}`;
  addTokenEndpoint(router, served, limited, now);
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

/**
 * Adds the token endpoint alone.
 *
 * @param limited the rate limit, if there is one
 * @param now milliseconds since 1970
 */
export function addTokenEndpoint(
  router: Router<RequestState>,
  { registration, frontEnds, grants, issuer }: ServedRegistration,
  limited: readonly Middleware[],
  now: () => number,
): void {
  const tokenUrl = `${issuer}/token`;
  router.all(
    `/auth/${registration.name}/token`,
    answerOAuthErrors,
    allow('POST'),
    ...limited,
    tokenEndpoint(frontEnds, {
      authorization_code: redeemCode(registration, grants, tokenUrl, now),
      refresh_token: refreshLogin(registration, grants, tokenUrl, now),
    }),
  );
}
