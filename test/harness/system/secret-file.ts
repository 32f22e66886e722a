import { mkdtempSync, rmSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { everyOption } from './variant.ts';

/** The first line of a key file, which most tests need only once. */
export const keyLine = 'the line of a key file with 32 characters or more';
export const keyLines = everyOption ? `${keyLine}\nan older line of it, with 32 characters` : keyLine;

const secrets = mkdtempSync(join(tmpdir(), 'login-relay-'));
process.on('exit', () => rmSync(secrets, { recursive: true, force: true }));

/** Writes a file that only its owner can read, in a new directory. The end of the tests removes it. */
export async function secretFile(content: string): Promise<string> {
  const file = join(mkdtempSync(join(secrets, 'secret-')), 'provider-client-secret');
  await writeFile(file, content, { mode: 0o600 });
  return file;
}

/** Writes a key file. */
export const keyFile = () => secretFile(keyLines);
