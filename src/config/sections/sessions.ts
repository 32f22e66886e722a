import { isFamily } from '../../origins/origin-pattern.ts';
import { isSameSite } from '../../origins/same-site.ts';
import { isLoopback } from '../../urls.ts';
import type { Option } from '../option.ts';
import { checked, type Reading } from '../reading.ts';
import * as schemas from '../schemas.ts';

/** How long sessions last, in seconds. */
export interface SessionSettings {
  /** From the login. */
  readonly sessionLifetime: number;
  /** From the login or the last refresh. */
  readonly sessionIdle: number;
}

/** The options of {@link SessionSettings}. */
export const sessionOptions = {
  sessionLifetime: {
    flag: '--session-lifetime',
    argument: '<days>',
    variable: 'SESSION_LIFETIME',
    group: 'Front end',
    help: 'days after which a session ends, however often it is refreshed',
    default: '7',
    schema: schemas.days(1, 400),
  },
  sessionIdle: {
    flag: '--session-idle',
    argument: '<hours>',
    variable: 'SESSION_IDLE',
    group: 'Front end',
    help: 'hours after which a session ends if it is not refreshed',
    default: '24',
    schema: schemas.hours(1, 9600),
  },
} as const satisfies Record<string, Option>;

/**
 * Reads the section. The result gives its values; call it only if no fault was reported.
 *
 * @param needing how a front end is described that has sessions; undefined: none has
 * @param baseUrl the relay's public address
 * @param hasKeyFile whether the keys come from a file, and not from the client secret
 */
export function readSessions(
  { values, sourceOf, fault, warn }: Reading,
  needing: string | undefined,
  baseUrl: string,
  hasKeyFile: boolean,
): () => SessionSettings {
  const { sessionLifetime, sessionIdle } = values;
  if (needing === undefined) {
    for (const name of ['sessionLifetime', 'sessionIdle'] as const) {
      if (sourceOf(name) !== undefined) warn(name, 'has no effect: no front end has sessions');
    }
  } else if (!hasKeyFile && !isLoopback(new URL(baseUrl))) {
    fault(
      'keyFile',
      `is required with ${needing}: otherwise anyone who knows the client secret could decrypt sessions`,
    );
  }
  return () => ({ sessionLifetime: checked(sessionLifetime), sessionIdle: checked(sessionIdle) });
}

/**
 * Reports why a front end cannot have sessions: browsers send their cookies only to the relay, and only from
 * pages of the relay's own site.
 *
 * @param baseUrl the relay's public address
 */
export function reportSessionFrontEnd(
  { values, sourceOf, describe, fault, warn }: Reading,
  baseUrl: string,
): void {
  const { origin } = values;
  const relay = URL.parse(baseUrl);
  const delivery = `${describe('tokenDelivery')} session`;
  if (relay?.protocol === 'http:' && !isLoopback(relay)) {
    fault('baseUrl', `must start with https:// with ${delivery}`);
  }
  if (origin && relay && !isFamily(origin) && !isSameSite(new URL(origin), relay)) {
    fault(
      'origin',
      `must be on the same site as ${describe('baseUrl')} with ${delivery}: both https, under one domain of your own, such as app.example.com and login.example.com`,
    );
  }
  if (sourceOf('redirectUri') !== undefined) {
    warn('redirectUri', `has no effect with ${delivery}: there are no OAuth logins`);
  }
}
