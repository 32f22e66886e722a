import * as v from 'valibot';
import { type OptionSources, type Report, sourceOf } from './option-values.ts';
import { describeOption, type OptionValues } from './options.ts';
import { visibleCharacters } from './schemas.ts';
import { Secret } from './secret.ts';

/** What reading a small text file yields. */
export interface TextFile {
  readonly text: string;
  readonly readableByOthers: boolean;
}

/** Reads a file, or throws an error with Node's `code`. */
export type ReadFile = (path: string) => TextFile;

const credentialName = 'provider-client-secret';

const reasons: Readonly<Record<string, string>> = {
  ENOENT: 'names a file that does not exist',
  EACCES: 'names a file that this user may not read',
  EISDIR: 'names a directory, not a file',
};

/**
 * Finds the client secret: the flags, else the variables, else the systemd credential.
 *
 * @returns the secret, or undefined after reporting why there is none
 */
export function readClientSecret(
  sources: OptionSources & { readonly readFile: ReadFile },
  values: OptionValues,
  fault: Report,
  warn: Report,
): Secret | undefined {
  const direct = sourceOf('clientSecret', sources);
  const file = sourceOf('clientSecretFile', sources);
  if (direct !== undefined && direct === file) {
    fault('clientSecret', `and ${describeOption('clientSecretFile')} are both given: give one`);
    return undefined;
  }
  if (direct === 'flag' || (direct === 'environment' && file === undefined)) {
    if (direct === 'flag') {
      warn('clientSecret', 'is in the shell history; a secret file is safer');
    }
    return values.clientSecret === undefined ? undefined : new Secret(values.clientSecret);
  }

  const directory = sources.environment['CREDENTIALS_DIRECTORY'];
  const path =
    file === undefined ? directory && `${directory}/${credentialName}` : values.clientSecretFile;
  if (file === undefined && !path) {
    fault('clientSecret', 'is required, or a file with it');
    return undefined;
  }
  return path ? readSecretFile(path, sources.readFile, fault, warn) : undefined;
}

function readSecretFile(
  path: string,
  readFile: ReadFile,
  fault: Report,
  warn: Report,
): Secret | undefined {
  let file: TextFile;
  try {
    file = readFile(path);
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : '';
    fault('clientSecretFile', reasons[code] ?? 'names a file that cannot be read');
    return undefined;
  }
  if (file.readableByOthers) {
    warn('clientSecretFile', 'names a file that every user can read: chmod o-r it');
  }
  const text = file.text.replace(/\r?\n$/, '');
  if (text === '') {
    fault('clientSecretFile', 'names an empty file');
    return undefined;
  }
  const result = v.safeParse(visibleCharacters, text, { abortPipeEarly: true });
  if (result.success) return new Secret(result.output);
  fault('clientSecretFile', 'names a file whose content is not one line of printable ASCII');
  return undefined;
}
