import { type KeyFile, readKeyFile } from '../key-file.ts';
import type { Option } from '../option.ts';
import type { Reading } from '../reading.ts';
import * as schemas from '../schemas.ts';

/** How logins are protected against forgery. */
export interface LoginProtectionSettings extends KeyFile {
  readonly stateCheck: 'browsers' | 'always' | 'off';
}

/** The options of {@link LoginProtectionSettings}. */
export const loginProtectionOptions = {
  stateCheck: {
    flag: '--state-check',
    argument: '<who>',
    variable: 'STATE_CHECK',
    group: 'Login protection',
    help: 'which callbacks must carry a state: browsers (those of browsers), always (all) or off (none: the bare protocol)',
    otherwise: 'browsers; always with --token-delivery code',
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

/** Reads the section. The result gives its values; call it only if no fault was reported. */
export function readLoginProtection(reading: Reading): () => LoginProtectionSettings {
  const { values, describe, fault, warn } = reading;
  const keyFile = readKeyFile(reading);
  if (values.tokenDelivery === 'code' && (values.stateCheck ?? 'always') !== 'always') {
    fault(
      'stateCheck',
      `must be always with ${describe('tokenDelivery')} code: otherwise anyone could exchange a leaked code at the callback`,
    );
  }
  if (values.keyFile !== undefined && values.stateCheck === 'off') {
    warn('keyFile', `has no effect with ${describe('stateCheck')} off`);
  }
  if (values.pkce === true && values.stateCheck === 'off') {
    warn('pkce', `has no effect with ${describe('stateCheck')} off`);
  }
  const stateCheck = values.stateCheck ?? (values.tokenDelivery === 'code' ? 'always' : 'browsers');
  return () => ({ stateCheck, ...keyFile() });
}
