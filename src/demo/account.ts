/** Longest name the login page takes, in UTF-16 code units. */
export const maxNameLength = 60;

/**
 * Tidies a typed name: drops control and formatting characters, and collapses spaces.
 *
 * @returns undefined for a name that is empty or longer than {@link maxNameLength}
 */
export function parseName(text: string): string | undefined {
  const name = text
    .toWellFormed()
    .normalize('NFC')
    .replace(/\s+/g, ' ')
    .replace(/\p{C}/gu, '')
    .trim();
  return name === '' || name.length > maxNameLength ? undefined : name;
}

/** The subject identifier of a name. It encodes the name, so the provider stores no accounts. */
export function accountId(name: string): string {
  return Buffer.from(name).toString('base64url');
}

/** The name behind a subject identifier. */
export function nameOf(id: string): string {
  return Buffer.from(id, 'base64url').toString();
}
