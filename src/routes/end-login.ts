import type { Place } from '../front-ends/front-ends.ts';
import type { RefreshTokenContent } from '../grants/refresh-tokens.ts';
import type { RevocableTokens } from '../oauth/revocation.ts';
import { longestLifetime } from '../resources/resource.ts';
import { ownerOf } from './grantee.ts';

/**
 * Ends a login if it is for a resource: no door opens to its access tokens any more, and none is refreshed.
 *
 * @param machine whose token it is
 */
export async function endAtDoors(
  { grants, frontEnd }: Pick<Place, 'grants' | 'frontEnd'>,
  { login, ownResource }: Pick<RefreshTokenContent, 'login' | 'ownResource'>,
  machine?: string,
): Promise<void> {
  if (ownResource === undefined) return;
  // Also if a reload has removed the resource: another one may bring it back.
  const longest = Math.max(longestLifetime, frontEnd.refreshPolicy?.lifetime ?? 0);
  await grants.endedLogins.end(login, longest * 1000, machine);
}

/** Ends the refreshes of a login. Gives its newest tokens to revoke: another tab may have refreshed it a moment ago. */
export async function endRefreshes(
  place: Place,
  { login, thumbprint, providerToken }: RefreshTokenContent,
): Promise<RevocableTokens> {
  const { refreshToken } = providerToken;
  if (refreshToken === undefined) return providerToken;
  const token = { owner: ownerOf(place), login, thumbprint, refreshToken };
  const newer = await place.grants.refreshes.endAndTakeNewest(token);
  return newer ?? providerToken;
}
