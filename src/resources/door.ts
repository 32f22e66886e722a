import type { Clock } from '../clock.ts';
import { RelayError } from '../failures/relay-error.ts';
import type { AccessTokenContent, createAccessTokens } from './access-tokens.ts';
import type { EndedLogins } from './ended-logins.ts';
import type { Resource } from './resource.ts';

/** Why a door closes to a token that was good for it. */
export type Closing = 'reload' | 'token_end' | 'logout';

/** Opens a resource to the tokens that are for it. Every way to a resource leads through its door. */
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
    /** The `hashRules` by which people of each front end are allowed now. */
    readonly rules: ReadonlyMap<string, string>;
    readonly now: Clock;
  },
  shown: 'token' | 'cookie' = 'token',
) {
  /** Whether other rules say by now who may use the resource. */
  const areRulesOld = ({ frontEnd, rules }: AccessTokenContent) =>
    rules !== undefined && rules !== by.rules.get(frontEnd);

  /** Why the door is closed by now to a token, if it is. @param grace milliseconds after the end of the token */
  async function closedTo(opened: AccessTokenContent, grace = 0): Promise<Closing | undefined> {
    const { audience, exp, login } = opened;
    if (by.audienceOf(opened) !== audience || areRulesOld(opened)) return 'reload';
    if (by.now() >= exp * 1000 + grace) return 'token_end';
    return (await by.endedLogins.hasEndedAsKnown(login)) ? 'logout' : undefined;
  }
  return {
    resource,
    /** After a reload, the door of the same resource has the same key unless that changed what requests meet. */
    key: JSON.stringify([shown, resource.audience, resource.upstream]),
    /** What a token holds. Asks no provider. @throws {RelayError} `resource_token_invalid` or `resource_token_expired` */
    async open(token: string): Promise<AccessTokenContent> {
      const opened = by.tokens.open(token, resource);
      // A refresh asks whether the person is allowed by the present rules.
      if (opened !== undefined && areRulesOld(opened)) throw new RelayError('resource_token_expired');
      const closing = opened === undefined ? 'reload' : await closedTo(opened);
      if (closing === 'token_end') throw new RelayError('resource_token_expired');
      if (opened === undefined || closing) throw new RelayError('resource_token_invalid');
      return opened;
    },
    closedTo,
    /** Whether the present keys open a token here, and the present rules are those by which it was granted. */
    isGrantedNow(token: string): boolean {
      const opened = by.tokens.open(token, resource);
      return opened !== undefined && !areRulesOld(opened);
    },
    /** Names a person apart from those of other providers, and alike at two doors of one provider. A machine has none. */
    nameOf: ({ sub, credential }: Pick<AccessTokenContent, 'sub' | 'credential'>): string =>
      credential === undefined ? `${by.people} ${sub}` : sub,
  };
}
