import { clientSecretCredential } from '../config/client-secret.ts';
import type { Naming } from '../config/reading.ts';

/** Where the client secret in effect comes from, unless it is given twice. */
export function clientSecretSource({
  sourceOf,
}: Naming): 'flag' | 'environment' | 'file' | 'credential' {
  if (sourceOf('clientSecretFile') !== undefined) return 'file';
  return sourceOf('clientSecret') ?? 'credential';
}

/**
 * The same, as text for the operator.
 *
 * @param registration the name of the registration in a file; undefined: flags and variables describe it
 */
export function describeClientSecret(
  { sourceOf, describe }: Naming,
  registration: string | undefined,
): string {
  if (sourceOf('clientSecretFile') !== undefined)
    return `the file of ${describe('clientSecretFile')}`;
  return sourceOf('clientSecret') === undefined
    ? `the systemd credential ${clientSecretCredential(registration)}`
    : describe('clientSecret');
}
