import type { Clock } from '../clock.ts';
import type { Config, FrontEndConfig } from '../config/config.ts';
import { audienceOfFrontEnd } from '../delivery/front-end.ts';
import { keysOf } from '../keys.ts';
import type { Marks } from '../memory/home.ts';
import { createSessions, type Sessions } from '../session/sessions.ts';
import { registrationsOf } from './registration-config.ts';

/**
 * Creates the sessions of the front ends that hold no token.
 *
 * @returns undefined if no front end has sessions
 */
export async function createRelaySessions(
  config: Config,
  logouts: Marks,
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
    isStrict: config.sessionCheck === 'strict',
    frontEnds: new Map(users.map((user) => [user.name, settingsOf(user)])),
  };
  return createSessions(settings, keys.session, logouts, now);
}

/** Whether a front end holds no token. */
export function hasSessions({ tokenDelivery }: FrontEndConfig): boolean {
  return tokenDelivery === 'session';
}
