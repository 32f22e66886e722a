import type { Secret } from '../../secret.ts';
import type { Option } from '../option.ts';
import { checked, type Reading } from '../reading.ts';
import * as schemas from '../schemas.ts';
import { readStateKeys } from '../state-key-file.ts';

/** How logins are protected against forgery. */
export interface LoginProtectionSettings {
  readonly stateCheck: 'browsers' | 'always' | 'off';
  /** The current key and the previous one, if any. Undefined: derived from the client secret. */
  readonly stateKeys: readonly [Secret, ...Secret[]] | undefined;
}

/** The options of {@link LoginProtectionSettings}. */
export const loginProtectionOptions = {
  stateCheck: {
    flag: '--state-check',
    argument: '<who>',
    variable: 'STATE_CHECK',
    group: 'Login protection',
    help: 'which callbacks must carry a state: browsers (those of browsers), always (all) or off (none: the bare protocol)',
    default: 'browsers',
    schema: schemas.oneOf(['browsers', 'always', 'off']),
  },
  stateKeyFile: {
    flag: '--state-key-file',
    argument: '<path>',
    variable: 'STATE_KEY_FILE',
    group: 'Login protection',
    help: 'file with the key that signs states, 32 or more characters; a second line may hold the previous key',
    otherwise: 'the systemd credential state-key, else derived from the client secret',
    secret: true,
    schema: schemas.filePath,
  },
} as const satisfies Record<string, Option>;

/** Reads the section. Call the result once no fault was reported. */
export function readLoginProtection(reading: Reading): () => LoginProtectionSettings {
  const { values, describe, warn } = reading;
  const stateKeys = readStateKeys(reading);
  if (values.stateKeyFile !== undefined && values.stateCheck === 'off') {
    warn('stateKeyFile', `has no effect with ${describe('stateCheck')} off`);
  }
  if (values.pkce === true && values.stateCheck === 'off') {
    warn('pkce', `has no effect with ${describe('stateCheck')} off`);
  }
  return () => ({ stateCheck: checked(values.stateCheck), stateKeys });
}
