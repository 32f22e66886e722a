/** The files in an archive besides the executable, the licences and the manual page: the README and all that it links to. */
export const archiveContent: readonly string[] = [
  ...['README.md', 'LICENSE', 'CHANGELOG.md', 'SECURITY.md', 'docs', 'deploy'],
  ...['src/demo/front-end', 'client/README.md'],
];
