import type { Place } from '../front-ends/front-ends.ts';
import type { RefreshTokenContent } from '../grants/refresh-tokens.ts';
import type { RevocableTokens } from '../oauth/revocation.ts';
import { longestLifetime } from '../resources/resource.ts';
import { ownerOf } from './grantee.ts';

/**
 * Ends a login for a resource, so that its access tokens open no door any more, and it cannot be refreshed.
 *
 * @param machine the name of the machine whose token ends; undefined for a login of a person
 */
export async function endAtDoors(
  { grants, frontEnd }: Pick<Place, 'grants' | 'frontEnd'>,
  { login, ownResource }: Pick<RefreshTokenContent, 'login' | 'ownResource'>,
  machine?: string,
): Promise<void> {
  if (ownResource === undefined) return;
  // The resource's own lifetime may be unknown, because a reload may have removed the resource, and the next may
  // restore it.
  const longest = Math.max(longestLifetime, frontEnd.refreshPolicy?.lifetime ?? 0);
  await grants.endedLogins.end(login, longest * 1000, machine);
}

/** Ends the refreshes of a login. @returns its newest tokens, which another tab may just have got, to revoke them */
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
