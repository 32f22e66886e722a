import { describeEntry } from './file/describe.ts';
import type { ReadConfigFile } from './file/read.ts';
import type { FrontEndAccess } from './front-end-access.ts';
import type { EntryReading } from './readings.ts';

/** A front end that is being read. */
interface FrontEndEntry {
  readonly one: EntryReading;
  readonly access: FrontEndAccess;
}

/** Describes how a front end of a registration takes only codes. Undefined: none does. */
export function codeDeliveryAt(
  registration: string,
  frontEnds: readonly FrontEndEntry[],
): string | undefined {
  const found = frontEnds.find(
    ({ one, access }) =>
      one.reading.values.tokenDelivery === 'code' && access.registrations.includes(registration),
  );
  return found && `${found.one.reading.describe('tokenDelivery')} code`;
}

/** Reports providers that no front end may use. */
export function reportUnused(
  file: ReadConfigFile,
  frontEnds: readonly FrontEndEntry[],
  addFault: (fault: string) => void,
): void {
  const used = new Set(frontEnds.flatMap(({ access }) => access.registrations));
  for (const entry of file.providers ?? []) {
    if (!used.has(entry.name)) addFault(`${describeEntry(file, entry)} is used by no front end`);
  }
}

/** Warns of secrets in a file that other users than its owner can read. */
export function warnOfSecrets(
  { isPrivate }: ReadConfigFile,
  providers: readonly EntryReading[],
): void {
  if (isPrivate) return;
  for (const { reading } of providers) {
    for (const name of ['clientSecret', 'tokenParams'] as const) {
      if (reading.sourceOf(name) !== 'file') continue;
      reading.warn(
        name,
        'is in a file that other users can read: chmod 600 it, or keep the secret in a file of its own',
      );
    }
  }
}
