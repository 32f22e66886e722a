import type { Clock } from '../clock.ts';
import { RelayError } from '../failures/relay-error.ts';
import type { AccessTokenContent, createAccessTokens } from './access-tokens.ts';
import type { EndedLogins } from './ended-logins.ts';
import type { Resource } from './resource.ts';

/** Opens a resource to those who have a token for it. Every way to a resource leads through its door. */
export interface Door {
  readonly resource: Resource;
  /**
   * Says who has a token. Asks no provider.
   *
   * @throws {RelayError} `resource_token_invalid` or `resource_token_expired`
   */
  open(token: string): Promise<AccessTokenContent>;
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
  return {
    resource,
    async open(token) {
      const opened = by.tokens.open(token, resource);
      if (opened === undefined) throw new RelayError('resource_token_invalid');
      const { frontEnd, client, audience, exp, login } = opened;
      const isOfFrontEnd = by.audienceOf(frontEnd, client) === audience;
      if (isOfFrontEnd && by.now() >= exp * 1000) throw new RelayError('resource_token_expired');
      if (!isOfFrontEnd || (await by.endedLogins.hasEndedAsKnown(login))) {
        throw new RelayError('resource_token_invalid');
      }
      return opened;
    },
  };
}
