import { isLoopback } from '../urls.ts';
import type { RelaySettings } from './config.ts';

/**
 * Whether front ends can get refresh tokens. Beyond this machine they need a key file: otherwise the
 * client secret would open them.
 */
export function issuesRefreshTokens({
  refreshTokens,
  keySecrets,
  baseUrl,
}: RelaySettings): boolean {
  const isKeySafe = keySecrets !== undefined || isLoopback(new URL(baseUrl));
  return refreshTokens !== 'off' && isKeySafe;
}
