import type { LoginConfig } from '../config/login-config.ts';
import type { Provider } from '../providers/provider.ts';
import { type Finding, ok } from './finding.ts';

const secondsOfHour = 3600;
const secondsOfDay = 24 * secondsOfHour;

/** Says how long the sessions of a front end last. */
export function checkSession({
  tokenDelivery,
  sessionLifetime,
  sessionIdle,
}: LoginConfig): Finding[] {
  if (tokenDelivery !== 'session') return [];
  const lifetime = counted(sessionLifetime / secondsOfDay, 'day');
  const idle = counted(sessionIdle / secondsOfHour, 'hour');
  return [
    ok(
      'session',
      `lasts ${lifetime} at most, and ${idle} without a refresh; its page gets no token`,
    ),
  ];
}

/** Says how sessions are renewed at a provider. */
export function checkRenewal({ refreshTokens }: Provider, asked: string): Finding {
  const without = 'without a refresh token, a session ends with its access token';
  const when = {
    always: 'the provider gives refresh tokens',
    never: 'no refresh tokens are expected from the provider',
    'by-setting': 'the provider gives refresh tokens if the application is set up for it',
    unknown: 'only a login shows whether the provider gives refresh tokens',
  }[refreshTokens ?? 'unknown'];
  return ok('refresh', `${when}${asked && `; ${asked}`}; ${without}`);
}

/** Says where people log out of the provider itself. */
export function checkLogout({ logoutUrl }: Provider): Finding {
  return ok(
    'logout',
    logoutUrl === undefined
      ? 'ends the session at the relay; no logout page of the provider is known'
      : `ends the session at the relay, and names the logout page of the provider: ${logoutUrl}`,
  );
}

function counted(count: number, unit: string): string {
  return `${count} ${unit}${count === 1 ? '' : 's'}`;
}
