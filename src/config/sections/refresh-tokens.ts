import { isLoopback } from '../../urls.ts';
import type { Option } from '../option.ts';
import { checked, type Reading } from '../reading.ts';
import * as schemas from '../schemas.ts';

/** The refresh tokens that front ends get. */
export interface RefreshTokenSettings {
  /** `bound` to a key that the page proves, `bearer` also without one, or none. @see RFC 9449 */
  readonly refreshTokens: 'bound' | 'bearer' | 'off';
  /** Seconds from the login to the end of its last refresh token. */
  readonly refreshLifetime: number;
}

/** The options of {@link RefreshTokenSettings}. */
export const refreshTokenOptions = {
  refreshTokens: {
    flag: '--refresh-tokens',
    argument: '<kind>',
    variable: 'REFRESH_TOKENS',
    group: 'Front end',
    help: 'refresh tokens for OAuth logins: bound (only to pages that prove a key with DPoP), bearer (to all pages) or off',
    default: 'bound',
    schema: schemas.oneOf(['bound', 'bearer', 'off']),
  },
  refreshLifetime: {
    flag: '--refresh-lifetime',
    argument: '<days>',
    variable: 'REFRESH_LIFETIME',
    group: 'Front end',
    help: 'days after which a login can no longer be refreshed',
    default: '30',
    schema: schemas.days(1, 3650),
  },
} as const satisfies Record<string, Option>;

/** The settings of logins by OAuth, which need a state. */
const settingsOfOAuth = [
  'redirectUri',
  'refreshTokens',
  'refreshLifetime',
  'revocationUrl',
] as const;

/**
 * Reads the section. The result gives its values; call it only if no fault was reported.
 *
 * @param baseUrl the relay's public address
 * @returns `hasKeyFile`: whether the keys come from a file, and not from the client secret
 */
export function readRefreshTokens(
  { values, sourceOf, describe, warn }: Reading,
  baseUrl: string,
): (hasKeyFile: boolean) => RefreshTokenSettings {
  const { refreshTokens, refreshLifetime, stateCheck } = values;
  if (stateCheck === 'off') {
    for (const name of settingsOfOAuth) {
      if (sourceOf(name) === undefined) continue;
      warn(name, `has no effect with ${describe('stateCheck')} off: OAuth logins need a state`);
    }
  } else if (refreshTokens === 'off' && sourceOf('refreshLifetime') !== undefined) {
    warn('refreshLifetime', `has no effect with ${describe('refreshTokens')} off`);
  }
  return (hasKeyFile) => {
    const areIssued = stateCheck !== 'off' && refreshTokens !== 'off';
    if (areIssued && !hasKeyFile && !isLoopback(new URL(baseUrl))) {
      warn(
        'keyFile',
        'is required for refresh tokens. Without a key file, front ends get none: anyone who knows the client secret could decrypt them',
      );
    }
    return { refreshTokens: checked(refreshTokens), refreshLifetime: checked(refreshLifetime) };
  };
}
