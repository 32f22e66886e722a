/** What is packed beside the executable, the licences and the manual page: the README and all it leads to. */
export const archiveContent: readonly string[] = [
  'README.md',
  'LICENSE',
  'CHANGELOG.md',
  'SECURITY.md',
  'docs',
  'deploy',
  'src/demo/front-end/index.html',
];
