import { codeOf, isMissingFile, type TextFile, whyUnreadable } from '../text-files.ts';
import type { FileText, Reading, ReadingContext } from './map-reading.ts';
import type { Level } from './settings/setting.ts';
import type { NameAt } from './settings/settings.ts';
import { whySecretUnfilled } from './unfilled-values.ts';

const otherUser = 'run this command as root, or as the user of the relay';

/**
 * The path of a systemd credential; undefined if it is missing or blank. The packaged unit sets a blank default,
 * because without any, systemd would not start the service, and the relay could not log what is missing.
 */
export function credentialPath(
  { environment, readFile }: Pick<ReadingContext, 'environment' | 'readFile'>,
  name: string,
): string | undefined {
  const directory = environment['CREDENTIALS_DIRECTORY'];
  if (!directory) return undefined;
  const path = `${directory}/${name}`;
  return isMissingFile(path, readFile, { orBlank: true }) ? undefined : path;
}

/**
 * Reads a file that a setting names, without its final newline. Reports an unreadable, empty or unfilled file.
 *
 * @param path undefined if no file is named, or after a fault
 * @param access `public` if everyone may read the file, because it holds no secret
 * @returns undefined without a file, and after a fault. In a command that examines the configuration, a note in place of
 *   the text if this user may not read the file (`reportUnreadable`)
 */
export function readNamedFile<At extends Level>(
  { readFile, reportFault, warn, reportUnreadable }: Reading<At>,
  name: NameAt<At>,
  path: string | undefined,
  access: 'private' | 'public' = 'private',
): FileText {
  if (path === undefined) return undefined;
  let file: TextFile;
  try {
    file = readFile(path);
  } catch (error) {
    const reason = whyUnreadable(error);
    return codeOf(error) === 'EACCES' ? reportUnreadable(name, reason, otherUser) : reportFault(name, reason);
  }
  if (file.readableByOthers && access === 'private') {
    warn(name, 'names a file that every user can read: chmod o-r it');
  }
  const text = file.text.replace(/\r?\n$/, '');
  if (text === '') return reportFault(name, 'names an empty file');
  const unfilled = access === 'private' ? whySecretUnfilled(text) : undefined;
  return unfilled === undefined ? text : reportFault(name, `names a file whose content ${unfilled}`);
}
