import type Router from '@koa/router';
import type { Middleware } from 'koa';
import type { Grants } from '../grants/grants.ts';
import { allow } from '../http/allow.ts';
import type { RequestState } from '../http/context.ts';
import type { FrontEnd, Registration } from '../login/login.ts';
import { answerOAuthErrors } from '../routes/front-end-endpoint.ts';
import { metadataPaths, serverMetadata } from '../routes/metadata.ts';
import { redeemCode } from '../routes/redeem-code.ts';
import { refreshLogin } from '../routes/refresh-login.ts';
import { revocationEndpoint } from '../routes/revoke.ts';
import { tokenEndpoint } from '../routes/token.ts';

/** What the endpoints need. */
interface Dependencies {
  readonly registration: Registration;
  readonly frontEnd: FrontEnd;
  readonly grants: Grants;
  /** The relay's public address. */
  readonly baseUrl: string;
  /** Milliseconds since 1970. */
  readonly now: () => number;
}

/**
 * Adds the endpoints of the relay as an authorization server, besides the start of a login.
 *
 * @param limited the rate limit, if there is one
 */
export function addOAuthEndpoints(
  router: Router<RequestState>,
  { registration, frontEnd, grants, baseUrl, now }: Dependencies,
  limited: readonly Middleware[],
): void {
  const path = `/auth/${registration.name}`;
  const issuer = baseUrl + path;
  const tokenUrl = `${issuer}/token`;
  router.all(
    `${path}/token`,
    answerOAuthErrors,
    allow('POST'),
    ...limited,
    tokenEndpoint(frontEnd, {
      authorization_code: redeemCode(registration, frontEnd, grants, tokenUrl, now),
      refresh_token: refreshLogin(registration, frontEnd, grants, tokenUrl, now),
    }),
  );
  router.all(
    `${path}/revoke`,
    answerOAuthErrors,
    allow('POST'),
    ...limited,
    revocationEndpoint(registration, frontEnd, grants),
  );
  for (const metadataPath of metadataPaths(baseUrl, path)) {
    const describe = serverMetadata(issuer, registration, grants);
    router.all(metadataPath, allow('GET', 'HEAD'), describe);
  }
}
