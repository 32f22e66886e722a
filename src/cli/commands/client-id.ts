import * as v from 'valibot';
import { createClientIds } from '../../clients/client-ids.ts';
import { offlineAudience } from '../../clients/clients.ts';
import { readRedirectUris } from '../../clients/read-metadata.ts';
import { parseSecretLines, secretLines } from '../../config/key-file.ts';
import { pathSegment, wholeNumber } from '../../config/schemas.ts';
import { ConfigError } from '../../failures/start-errors.ts';
import { limits } from '../../limits.ts';
import { deriveKeysFromFile } from '../../sealing/keys.ts';
import { readTextFile } from '../../text-files.ts';
import { longestDays } from '../../times.ts';

export interface ClientIdFlags {
  readonly clientKeyFile: string;
  readonly frontEnd: string;
  readonly redirectUri: readonly string[];
  readonly days: string;
}

/**
 * `login-relay client-id`: makes a client identifier for pages of a front end with this key file. It needs no relay and
 * no configuration.
 *
 * @throws {ConfigError} with all faults
 */
export function makeClientId(flags: ClientIdFlags): string {
  const { clientKeyFile, frontEnd, redirectUri } = flags;
  const faults: string[] = [];
  const name = v.safeParse(pathSegment, frontEnd);
  if (!name.success) faults.push(`--front-end ${name.issues[0].message}`);
  const days = v.safeParse(wholeNumber(1, longestDays.clientId), flags.days);
  if (!days.success) faults.push(`--days ${days.issues[0].message}`);
  const redirectUris = readRedirectUris(redirectUri);
  if (redirectUris === undefined) {
    faults.push('--redirect-uri must be 1 to 20 https URLs, or http URLs of this machine');
  }
  const keys = readKeySecrets(clientKeyFile);
  if (keys === undefined) {
    faults.push(`--client-key-file must name a file of ${secretLines}`);
  }
  // The compiler needs the first three conditions, for each of which a fault is in the list.
  if (!days.success || !redirectUris || !keys || faults.length > 0) throw new ConfigError(faults);
  const ids = createClientIds(deriveKeysFromFile(keys).client, frontEnd, offlineAudience, Date.now);
  const id = ids.issue({ redirectUris }, days.output);
  if (id.length <= limits.clientIdLength) return id;
  throw new ConfigError(['--redirect-uri is too long: the client_id would have more than 4 KiB']);
}

/** Reads the secrets of a key file; undefined if it cannot be read or is not a key file. */
function readKeySecrets(path: string) {
  try {
    return parseSecretLines(readTextFile(path).text.replace(/\r?\n$/, ''));
  } catch {
    return undefined;
  }
}
