import type { Clock } from '../clock.ts';
import { RelayError } from '../failures/relay-error.ts';
import type { AccessTokenContent, createAccessTokens } from './access-tokens.ts';
import type { EndedLogins } from './ended-logins.ts';
import type { Resource } from './resource.ts';

/** Why a door is closed to somebody it was open for. */
export type Closing = 'reload' | 'token_end' | 'logout';

/** Opens a resource to those who have a token for it. Every way to a resource leads through its door. */
export interface Door {
  readonly resource: Resource;
  /** The same for a door of the same resource, until a reload changes what its requests meet. */
  readonly key: string;
  /**
   * Says who has a token. Asks no provider.
   *
   * @throws {RelayError} `resource_token_invalid` or `resource_token_expired`
   */
  open(token: string): Promise<AccessTokenContent>;
  /** Whether it is closed by now to who has opened it. @param grace milliseconds after the end of the token */
  closedTo(opened: AccessTokenContent, grace?: number): Promise<Closing | undefined>;
}

/**
 * @param by.audienceOf the present audience of a front end that may give tokens for the resource; undefined: it is gone, or
 *   may not
 */
export function createDoor(
  resource: Resource,
  by: {
    readonly tokens: Pick<ReturnType<typeof createAccessTokens>, 'open'>;
    readonly endedLogins: Pick<EndedLogins, 'hasEndedAsKnown'>;
    readonly audienceOf: (frontEnd: string, client: string | undefined) => string | undefined;
    readonly now: Clock;
  },
): Door {
  const { audience: of, allow, upstream } = resource;
  const closedTo: Door['closedTo'] = async (
    { frontEnd, client, audience, exp, login },
    grace = 0,
  ) => {
    if (by.audienceOf(frontEnd, client) !== audience) return 'reload';
    if (by.now() >= exp * 1000 + grace) return 'token_end';
    return (await by.endedLogins.hasEndedAsKnown(login)) ? 'logout' : undefined;
  };
  return {
    resource,
    key: JSON.stringify([of, allow, upstream]),
    async open(token) {
      const opened = by.tokens.open(token, resource);
      const closing = opened === undefined ? 'reload' : await closedTo(opened);
      if (closing === 'token_end') throw new RelayError('resource_token_expired');
      if (opened === undefined || closing) throw new RelayError('resource_token_invalid');
      return opened;
    },
    closedTo,
  };
}
