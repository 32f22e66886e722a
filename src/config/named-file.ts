import { codeOf, isMissingFile, type TextFile, whyUnreadable } from '../text-files.ts';
import type { FileText, Reading, ReadingContext } from './reading.ts';
import type { Level } from './settings/setting.ts';
import type { NameAt } from './settings/settings.ts';
import { whyUnfilled } from './unfilled-values.ts';

const otherUser = 'run this command as root, or as the user of the relay';

/**
 * The path of a systemd credential. Undefined if it is missing or blank. The packaged unit sets a blank default,
 * because systemd would otherwise not start the service, and the relay could not log what is missing.
 */
export function credentialPath(given: Pick<ReadingContext, 'environment' | 'readFile'>, name: string) {
  const directory = given.environment['CREDENTIALS_DIRECTORY'];
  const path = `${directory}/${name}`;
  return !directory || isMissingFile(path, given.readFile, true) ? undefined : path;
}

/**
 * Reads a file that a setting names, without its final newline.
 *
 * @param path undefined if none is named, or after a fault
 * @param access `public` if everyone may read the file
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
  const unfilled = access === 'private' ? whyUnfilled(text, true) : undefined;
  return unfilled === undefined ? text : reportFault(name, `names a file whose content ${unfilled}`);
}
