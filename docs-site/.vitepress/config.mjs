// A site from README and docs: make docs-site. Its side bar is the list of docs/README.md.
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitepress';

const root = new URL('../../', import.meta.url);

const groups = readFileSync(new URL('docs/README.md', root), 'utf8')
  .split(/\n(?=For \w+:\n)/)
  .slice(1);
const sidebar = groups.map((group) => ({
  text: group.slice(0, group.indexOf(':')),
  items: [...group.matchAll(/^- \[(.+?)\]\(([\w/-]+)\.md\)/gm)].map(([, text, page]) => ({
    text,
    link: `/docs/${page.replace(/README$/, '')}`,
  })),
}));

const pages = 'docs|client|README.md|CHANGELOG.md|CONTRIBUTING.md|SECURITY.md';

export default defineConfig({
  title: 'login-relay',
  description: 'OAuth 2.0 login for programs that cannot keep a client secret',
  srcDir: '..',
  srcExclude: [`!(${pages})/**`],
  rewrites: {
    'README.md': 'index.md',
    'docs/README.md': 'docs/index.md',
    'docs/audits/README.md': 'docs/audits/index.md',
  },
  outDir: '../dist/docs',
  cleanUrls: true,
  // Templates and sources are files of the repository, and no pages.
  ignoreDeadLinks: [/\/(?:deploy|examples|src|test)(?:\/|$)/, /LICENSE/],
  vite: {
    // The pages are above this folder, and its libraries in it.
    resolve: {
      alias: [
        {
          find: /^vue(?=$|\/)/,
          replacement: fileURLToPath(new URL('docs-site/node_modules/vue', root)),
        },
      ],
    },
  },
  themeConfig: {
    sidebar: [{ text: 'login-relay', link: '/' }, ...sidebar],
    outline: 'deep',
    search: { provider: 'local' },
  },
});
