import { readdirSync } from 'node:fs';

const forMaintainers = /^(?:architecture|benchmarks|design|release|reliability)\./;

/** The files of docs for users. */
export const userDocuments: readonly string[] = readdirSync('docs').filter(
  (file) => !forMaintainers.test(file),
);

/** The files in an archive besides the executable, the licences and the manual page: the README and all that it links to. */
export const archiveContent: readonly string[] = [
  ...['README.md', 'LICENSE', 'CHANGELOG.md', 'SECURITY.md', 'deploy'],
  ...['src/demo/front-end', 'client/README.md'],
  ...userDocuments.map((file) => `docs/${file}`),
];
