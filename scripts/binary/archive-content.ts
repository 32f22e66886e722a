import { cpSync, existsSync, globSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pageWithout } from '../repository.ts';

const forMaintainers = /^(?:architecture|benchmarks|design|release|reliability)\./;

/** The files of docs for users. */
export const userDocuments: readonly string[] = readdirSync('docs').filter(
  (file) => file.endsWith('.md') && !forMaintainers.test(file),
);

const parts = [
  'README.md',
  'LICENSE',
  'CHANGELOG.md',
  'SECURITY.md',
  'deploy',
  'client/README.md',
  ...userDocuments.map((file) => `docs/${file}`),
  // The pictures of the README.
  ...globSync('docs/*.{png,svg}'),
];

/** Copies the files of an archive, except for the executable, the licences and the manual page. */
export function gatherDocuments(folder: string): void {
  for (const part of parts) cpSync(part, join(folder, part), { recursive: true });
  for (const page of globSync('**/*.md', { cwd: folder })) {
    const text = readFileSync(page, 'utf8');
    const isThere = (path: string) => existsSync(join(folder, path));
    writeFileSync(join(folder, page), pageWithout(page, text, isThere));
  }
}
