import type { Config, RegistrationConfig } from '../config/config.ts';
import { frontEndsOf } from '../config/login-config.ts';
import { codeLifetime } from '../grants/codes.ts';
import { limits } from '../limits.ts';
import { loginLifetime } from '../login/cookies.ts';
import type { Provider } from '../providers/provider.ts';
import { lastKnown, type Memory } from './memory.ts';

/** After this time, in milliseconds, neither the state nor the code of a login is valid. */
const longestLogin = (loginLifetime + codeLifetime) * 1000;

/** A registration that a reload has removed. It finishes the logins that it has started. */
export interface LeavingRegistration {
  readonly registered: RegistrationConfig;
  /** What was last known of its provider. */
  readonly provider: Provider;
  /** The names of the front ends that could use it. */
  readonly frontEnds: ReadonlySet<string>;
  /** When its last login is over, in milliseconds since 1970. */
  readonly until: number;
}

/** What a relay serves. */
export interface Serving {
  readonly config: Config;
  readonly leaving: readonly LeavingRegistration[];
}

/**
 * The registrations that leave with a reload, and those that left with earlier ones and still have logins: 100 at
 * most. A name that is configured again is not among them, because its paths belong to the new registration.
 *
 * @param now milliseconds since 1970
 */
export function leavingAfter(
  before: Serving,
  next: Config,
  memory: Memory,
  now: number,
): LeavingRegistration[] {
  const removed = before.config.registrations.flatMap((registration) => {
    const provider = lastKnown(registration.provider, memory);
    // Without a provider no login has started, and without a state check none could be recognized.
    if (provider === undefined || registration.stateCheck === 'off') return [];
    // A callback without a state could belong to a login that starts now.
    const registered: RegistrationConfig = { ...registration, stateCheck: 'always' };
    const users = frontEndsOf(before.config, registration);
    const frontEnds = new Set(users.map(({ name }) => name));
    return [{ registered, provider, frontEnds, until: now + longestLogin }];
  });
  const taken = new Set(next.registrations.map(({ name }) => name));
  const leaving = new Map<string, LeavingRegistration>();
  for (const one of [...before.leaving, ...removed]) {
    const { name } = one.registered;
    leaving.delete(name);
    if (!taken.has(name) && one.until > now) leaving.set(name, one);
  }
  return [...leaving.values()].slice(-limits.registrations);
}

/**
 * The configuration in which a leaving registration is served. Of the front ends that could use it, those that are
 * still configured can use it now: no login reaches a front end that was removed. A session cannot start, because its
 * requests need the registration later.
 *
 * @returns undefined if there are none
 */
export function configOfLeaving(
  config: Config,
  { registered, frontEnds }: LeavingRegistration,
): Config | undefined {
  const [first, ...others] = config.frontEnds
    .filter(({ name, tokenDelivery }) => frontEnds.has(name) && tokenDelivery !== 'session')
    .map((frontEnd) => ({ ...frontEnd, registrations: [registered.name] }));
  return first && { ...config, frontEnds: [first, ...others] };
}
