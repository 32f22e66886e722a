import type { Clock } from '../clock.ts';
import { RelayError } from '../failures/relay-error.ts';
import type { AccessTokenContent, createAccessTokens } from './access-tokens.ts';
import type { EndedLogins } from './ended-logins.ts';
import type { Resource } from './resource.ts';

export type Closing = 'reload' | 'token_end' | 'logout';

/** The check of tokens for one resource. Every request to the resource passes its door. */
export type Door = ReturnType<typeof createDoor>;

/** @param by.audienceOf the audience that a token must have now; undefined if its front end may have none here */
export function createDoor(
  resource: Resource,
  by: {
    readonly tokens: Pick<ReturnType<typeof createAccessTokens>, 'open'>;
    readonly endedLogins: Pick<EndedLogins, 'hasEndedAsKnown'>;
    /** The provider whose users it serves. */
    readonly people: string;
    readonly audienceOf: (opened: Pick<AccessTokenContent, 'frontEnd' | 'client' | 'credential'>) => string | undefined;
    /** The `hashRules` of each front end that apply now. */
    readonly rules: ReadonlyMap<string, string>;
    readonly now: Clock;
  },
  shown: 'token' | 'cookie' = 'token',
) {
  /** Whether the rules have changed since the token was issued. */
  const areRulesOld = ({ frontEnd, rules }: AccessTokenContent) =>
    rules !== undefined && rules !== by.rules.get(frontEnd);

  /** Why the door is closed to a token by now. @param grace milliseconds that the token may have expired ago */
  async function closedTo(opened: AccessTokenContent, grace = 0): Promise<Closing | undefined> {
    const { audience, exp, login } = opened;
    if (by.audienceOf(opened) !== audience || areRulesOld(opened)) return 'reload';
    if (by.now() >= exp * 1000 + grace) return 'token_end';
    return (await by.endedLogins.hasEndedAsKnown(login)) ? 'logout' : undefined;
  }
  return {
    resource,
    /** A reload replaces the door. Requests in flight continue only if the new door has the same key. */
    key: JSON.stringify([shown, resource.audience, resource.upstream]),
    /**
     * The content of a token, without a call to the provider. @throws {RelayError} `resource_token_invalid` or
     * `resource_token_expired`
     */
    async open(token: string): Promise<AccessTokenContent> {
      const opened = by.tokens.open(token, resource);
      // A refresh decides by the new rules, so the answer asks for one.
      if (opened !== undefined && areRulesOld(opened)) throw new RelayError('resource_token_expired');
      const closing = opened === undefined ? 'reload' : await closedTo(opened);
      if (closing === 'token_end') throw new RelayError('resource_token_expired');
      if (opened === undefined || closing) throw new RelayError('resource_token_invalid');
      return opened;
    },
    closedTo,
    /** Whether the current keys open a token here, and the current rules are those of its grant. */
    isGrantedNow(token: string): boolean {
      const opened = by.tokens.open(token, resource);
      return opened !== undefined && !areRulesOld(opened);
    },
    /**
     * A name for the person of a token, which is the same at all doors of one provider, and differs between providers.
     * For a machine, its `sub`, which differs from every person's.
     */
    nameOf: ({ sub, credential }: Pick<AccessTokenContent, 'sub' | 'credential'>): string =>
      credential === undefined ? `${by.people} ${sub}` : sub,
  };
}
