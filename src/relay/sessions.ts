import type { Clock } from '../clock.ts';
import type { Config, FrontEndConfig } from '../config/config.ts';
import { keysOf } from '../keys.ts';
import type { Registration } from '../login/registration.ts';
import type { SessionAccess } from '../routes/open-session.ts';
import { createSessionGuard } from '../routes/session-guard.ts';
import type { Logouts } from '../session/logouts.ts';
import { createSessions, type Sessions } from '../session/sessions.ts';
import { audienceOfFrontEnd, registrationsOf } from './registration-config.ts';

/**
 * Creates the sessions of the front ends that hold no token.
 *
 * @returns undefined if no front end has sessions
 */
export async function createRelaySessions(
  config: Config,
  logouts: Logouts,
  now: Clock,
): Promise<Sessions | undefined> {
  const { frontEnds, registrations, keySecrets, baseUrl } = config;
  const users = frontEnds.filter(hasSessions);
  if (users.length === 0) return undefined;
  const [first] = registrations;
  // Without a key file, the relay is on this machine alone.
  const keys = await keysOf(keySecrets, first.clientSecret);
  const settingsOf = (user: FrontEndConfig) => ({
    audience: audienceOfFrontEnd(user),
    registrations: new Set(registrationsOf(config, user).map(({ name }) => name)),
  });
  const settings = {
    secure: baseUrl.startsWith('https:'),
    lifetime: config.sessionLifetime,
    idle: config.sessionIdle,
    frontEnds: new Map(users.map((user) => [user.name, settingsOf(user)])),
  };
  return createSessions(settings, keys.session, logouts, now);
}

/** Creates what endpoints need that sessions authorize. */
export function createSessionAccess(
  { baseUrl, frontEnds }: Config,
  sessions: Sessions,
  registrations: readonly Registration[],
  now: Clock,
): SessionAccess {
  const byName = new Map(registrations.map((registration) => [registration.name, registration]));
  return {
    sessions,
    guard: createSessionGuard(baseUrl, frontEnds.filter(hasSessions)),
    registrationOf({ registration, audience }) {
      const found = byName.get(registration)?.pinned();
      return found?.audience() === audience ? found : undefined;
    },
    now,
  };
}

function hasSessions({ tokenDelivery }: FrontEndConfig): boolean {
  return tokenDelivery === 'session';
}
