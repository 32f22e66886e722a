import type { Option } from '../option.ts';
import type { Reading } from '../reading.ts';
import * as schemas from '../schemas.ts';

/** Which callbacks of a registration must have a state. */
export type StateCheck = 'browsers' | 'always' | 'off';

/** The options of login protection. */
export const loginProtectionOptions = {
  stateCheck: {
    flag: '--state-check',
    argument: '<who>',
    variable: 'STATE_CHECK',
    group: 'Login protection',
    help: 'which callbacks must carry a state: browsers (those of browsers), always (all) or off (none: the bare protocol)',
    otherwise: 'browsers; always with --token-delivery code, session or cms',
    schema: schemas.oneOf(['browsers', 'always', 'off']),
  },
  keyFile: {
    flag: '--key-file',
    argument: '<path>',
    variable: 'KEY_FILE',
    group: 'Login protection',
    help: 'file with the secret (32 or more characters) that all keys are derived from; a second line may hold the previous secret; created if it does not exist',
    otherwise:
      'the systemd credential key, else the file key in the systemd state directory, else derived from the client secret',
    secret: true,
    schema: schemas.filePath,
  },
} as const satisfies Record<string, Option>;

/**
 * Reads the state check of a registration.
 *
 * @param guardedDelivery how a front end of the registration is described that needs a state; undefined: none
 *   does
 */
export function readStateCheck(
  { values, describe, fault, warn }: Reading,
  guardedDelivery: string | undefined,
): StateCheck {
  const { stateCheck = guardedDelivery === undefined ? 'browsers' : 'always' } = values;
  if (guardedDelivery !== undefined && stateCheck !== 'always') {
    fault(
      'stateCheck',
      `must be always with ${guardedDelivery}: otherwise anyone could exchange a leaked code at the callback`,
    );
  }
  if (values.keyFile !== undefined && values.stateCheck === 'off') {
    warn('keyFile', `has no effect with ${describe('stateCheck')} off`);
  }
  if (values.pkce === true && values.stateCheck === 'off') {
    warn('pkce', `has no effect with ${describe('stateCheck')} off`);
  }
  return stateCheck;
}
