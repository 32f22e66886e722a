import type { Secret } from '../../secret.ts';
import { readClientSecret } from '../client-secret.ts';
import type { Option } from '../option.ts';
import { checked, type Reading } from '../reading.ts';
import * as schemas from '../schemas.ts';

/** The relay as a client at its provider. */
export interface RegistrationSettings {
  readonly clientId: string;
  readonly clientSecret: Secret;
  /** The word in its paths: `/auth/<name>`. */
  readonly name: string;
  /** The relay's own callback, to be registered at the provider. */
  readonly redirectUri: string;
}

/** The options that every relay needs. */
export const requiredRegistrationOptions = {
  clientId: {
    flag: '--client-id',
    argument: '<id>',
    variable: 'PROVIDER_CLIENT_ID',
    group: 'Required',
    help: 'client identifier registered at the provider',
    otherwise: 'required',
    schema: schemas.visibleCharacters,
  },
  clientSecretFile: {
    flag: '--client-secret-file',
    argument: '<path>',
    variable: 'PROVIDER_CLIENT_SECRET_FILE',
    group: 'Required',
    help: 'file that holds the client secret',
    otherwise: 'required, except with the systemd credential provider-client-secret',
    secret: true,
    schema: schemas.filePath,
  },
  clientSecret: {
    flag: '--client-secret',
    argument: '<secret>',
    variable: 'PROVIDER_CLIENT_SECRET',
    group: 'Required',
    help: 'the client secret itself; a file is safer',
    otherwise: 'required without a file',
    secret: true,
    schema: schemas.visibleCharacters,
  },
} as const satisfies Record<string, Option>;

/** The other options of {@link RegistrationSettings}. */
export const registrationOptions = {
  pathName: {
    flag: '--path-name',
    argument: '<word>',
    variable: 'PROVIDER_PATH_NAME',
    group: 'Provider',
    help: 'the word in /auth/<word> and /auth/<word>/callback',
    default: 'provider',
    schema: schemas.pathSegment,
  },
} as const satisfies Record<string, Option>;

/**
 * Reads the section. The result gives its values; call it only if no fault was reported.
 *
 * @param entry the name of the registration in a file; undefined: flags and variables describe it
 */
export function readRegistration(
  reading: Reading,
  baseUrl: string,
  entry: string | undefined,
): () => RegistrationSettings {
  const { values, sourceOf, fault } = reading;
  if (sourceOf('clientId') === undefined) fault('clientId', 'is required');
  const clientSecret = readClientSecret(reading, entry);
  return () => {
    const name = entry ?? checked(values.pathName);
    return {
      clientId: checked(values.clientId),
      clientSecret: checked(clientSecret),
      name,
      redirectUri: `${baseUrl}/auth/${name}/callback`,
    };
  };
}
