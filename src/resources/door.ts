import type { Clock } from '../clock.ts';
import { RelayError } from '../failures/relay-error.ts';
import type { AccessTokenContent, createAccessTokens } from './access-tokens.ts';
import type { EndedLogins } from './ended-logins.ts';
import { idAtProvider, type Resource } from './resource.ts';

/** Why a door is closed to a token that it may have opened to before. */
export type ClosedReason = 'reload' | 'token_end' | 'logout';

/**
 * Decides which tokens open one resource, among those of one registration. Every request to the resource passes one of
 * its doors.
 */
export type Door = ReturnType<typeof createDoor>;

/** The doors of one resource: one for each registration whose people it serves. */
export type Doors = readonly [Door, ...Door[]];

/** What has passed a door. */
export interface Entered {
  readonly door: Door;
  readonly opened: AccessTokenContent;
}

/**
 * Opens the door that a token was issued for. The token itself says which one that is, because it is sealed for one
 * registration.
 *
 * @throws {RelayError} `resource_token_invalid`, also if the token was issued for none of the doors, or
 *   `resource_token_expired`
 */
export async function enter(doors: Doors, token: string): Promise<Entered> {
  const [first, ...others] = doors;
  const door = others.length === 0 ? first : findDoor(doors, token);
  return { door, opened: await door.open(token) };
}

/** The door that a token was issued for; the first one, which refuses the token, if there is none. */
function findDoor(doors: Doors, token: string): Door {
  // Most tokens come again and again. To find a remembered one costs less than to decrypt it at the wrong doors.
  return (
    doors.find((door) => door.remembers(token)) ?? doors.find((door) => door.read(token) !== undefined) ?? doors[0]
  );
}

/**
 * Creates the door of a resource for the people of one registration, and for machines.
 *
 * @param by.audienceOf returns the audience that a token must have now; undefined if its front end may not use the
 *   resource
 * @param shown what requests show at this door: a bearer token, or the cookie of a browser
 */
export function createDoor(
  resource: Resource,
  by: {
    readonly tokens: Pick<ReturnType<typeof createAccessTokens>, 'open' | 'remembers'>;
    readonly endedLogins: Pick<EndedLogins, 'hasEndedCached'>;
    /** A name for the provider's users, who are the same people at all doors of this provider. */
    readonly people: string;
    readonly audienceOf: (opened: Pick<AccessTokenContent, 'frontEnd' | 'client' | 'credential'>) => string | undefined;
    /** The `hashRules` of the rules that apply now, by the name of the front end. */
    readonly rules: ReadonlyMap<string, string>;
    /** The name of the relay in `iss` at the registration. */
    readonly issuer: string;
    readonly now: Clock;
  },
  shown: 'token' | 'cookie' = 'token',
) {
  /** Whether the rules of `allow` have changed since the token was issued. Tokens of version 0.4 do not name the rules. */
  const haveRulesChanged = ({ frontEnd, rules }: AccessTokenContent) =>
    rules !== undefined && rules !== by.rules.get(frontEnd);

  /** Removes what the resource no longer learns, since a reload has taken it out of `identity`. */
  function withoutUnlearned(opened: AccessTokenContent): AccessTokenContent {
    const { claims } = resource.identity;
    const email = claims.includes('email') ? opened.email : undefined;
    const groups = claims.includes('groups') ? opened.groups : undefined;
    // Most tokens hold nothing else, and are remembered as they are.
    return email === opened.email && groups === opened.groups ? opened : { ...opened, email, groups };
  }

  /**
   * Why the door is closed to a token now; undefined if it is open.
   *
   * @param grace milliseconds for which the door stays open after the token expires
   */
  async function whyClosedTo(opened: AccessTokenContent, grace = 0): Promise<ClosedReason | undefined> {
    const { audience, exp, login } = opened;
    if (by.audienceOf(opened) !== audience || haveRulesChanged(opened)) return 'reload';
    if (by.now() >= exp * 1000 + grace) return 'token_end';
    return (await by.endedLogins.hasEndedCached(login)) ? 'logout' : undefined;
  }
  return {
    resource,
    issuer: by.issuer,
    remembers: (token: string): boolean => by.tokens.remembers(token, resource),
    /** Reads the content of a token, even if it has ended. @returns undefined if it was not issued for this door */
    read: (token: string): AccessTokenContent | undefined => by.tokens.open(token, resource),
    /** Identifies a door across reloads. Requests in flight continue only if the new door has the same key. */
    key: JSON.stringify([shown, resource.audience, resource.upstream]),
    /**
     * Opens the door to a token, without a call to the provider.
     *
     * @throws {RelayError} `resource_token_invalid` or `resource_token_expired`
     */
    async open(token: string): Promise<AccessTokenContent> {
      const opened = by.tokens.open(token, resource);
      if (opened === undefined) throw new RelayError('resource_token_invalid');
      // Clients answer this code with a refresh, which decides by the new rules.
      if (haveRulesChanged(opened)) throw new RelayError('resource_token_expired');
      const reason = await whyClosedTo(opened);
      if (reason === undefined) return withoutUnlearned(opened);
      throw new RelayError(reason === 'token_end' ? 'resource_token_expired' : 'resource_token_invalid');
    },
    whyClosedTo,
    /**
     * Reads the content of a token that may stay open, even if it has ended.
     *
     * @returns undefined if the current keys do not open the token at this door, or the rules have changed since it was
     *   issued
     */
    readIfGrantedNow(token: string): AccessTokenContent | undefined {
      const opened = by.tokens.open(token, resource);
      return opened === undefined || haveRulesChanged(opened) ? undefined : opened;
    },
    /** A name for the person of a token, the same at all doors of one provider; for a machine, its `sub`. */
    holderName: ({ sub, credential }: Pick<AccessTokenContent, 'sub' | 'credential'>): string =>
      credential === undefined ? `${by.people} ${idAtProvider(resource, sub)}` : sub,
  };
}
