import { createHash } from 'node:crypto';

/** A person at the demo provider: nothing is stored, all of it follows from the name they typed. */
export interface Account {
  /** Subject identifier: the typed name in base64url, at most 240 ASCII characters. */
  readonly id: string;
  /** Account name: lower-case ASCII letters, digits and single hyphens. */
  readonly login: string;
  /** Display name, or null where an account name was typed. */
  readonly name: string | null;
}

/** Longest name the login page takes, in UTF-16 code units. */
export const maxNameLength = 60;

/**
 * Tidies a typed name: control and formatting characters dropped, runs of space made one.
 * Answers undefined for a name that is empty or longer than {@link maxNameLength}.
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

/** The account behind a name that {@link parseName} accepted. */
export function accountFor(name: string): Account {
  const login = slug(name) || `user-${createHash('sha256').update(name).digest('hex').slice(0, 8)}`;
  return {
    id: Buffer.from(name).toString('base64url'),
    login,
    name: name === login ? null : name,
  };
}

/** The account with that subject identifier, or undefined where none could have it. */
export function accountById(id: string): Account | undefined {
  const name = parseName(Buffer.from(id, 'base64url').toString());
  if (name === undefined) return undefined;
  const account = accountFor(name);
  return account.id === id ? account : undefined;
}

/** The account with that login and display name, or undefined where the two do not belong together. */
export function accountByLogin(login: string, name: string | null): Account | undefined {
  const parsed = parseName(name ?? login);
  if (parsed === undefined) return undefined;
  const account = accountFor(parsed);
  return account.login === login && account.name === name ? account : undefined;
}

function slug(name: string): string {
  return name
    .normalize('NFKD')
    .replace(/\p{M}/gu, '')
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-|-$/g, '');
}
