import { existsSync, globSync, readdirSync, readFileSync } from 'node:fs';
import { expect } from 'chai';

const docs = new URL('../../docs/', import.meta.url);
const fewSections = 5;

/** The anchor that GitHub gives to a heading. */
function anchorOf(heading: string): string {
  return heading
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
    .replaceAll(' ', '-');
}

describe('the manuals', () => {
  for (const name of readdirSync(docs).filter((file) => file.endsWith('.md'))) {
    const page = readFileSync(new URL(name, docs), 'utf8');
    const headings = [...page.matchAll(/^## (.+)$/gm)].map(([, heading = '']) => heading);
    if (headings.length <= fewSections) continue;

    it(`have a table of contents in ${name}`, () => {
      const contents = headings.map((heading) => `- [${heading}](#${anchorOf(heading)})\n`);
      expect(page.slice(0, page.indexOf('\n## '))).to.contain(`\n\n${contents.join('')}`);
    });
  }

  it('on operations start with what to do if users cannot log in', () => {
    const operations = readFileSync(new URL('operations.md', docs), 'utf8');
    expect(operations.slice(operations.indexOf('\n## '))).to.match(/^\n## Users cannot log in\n/);
  });

  it('link only to existing sections', () => {
    const pages = readdirSync(docs).filter((file) => file.endsWith('.md'));
    const texts = new Map(pages.map((name) => [name, readFileSync(new URL(name, docs), 'utf8')]));
    for (const [name, text] of texts) {
      for (const [link, page = '', anchor = ''] of text.matchAll(/\]\(([a-z-]+\.md)?#([^)]+)\)/g)) {
        const target = texts.get(page || name) ?? '';
        const anchors = [...target.matchAll(/^#+ (.+)$/gm)].map(([, heading = '']) => anchorOf(heading));
        expect(anchors, `${name}: ${link}`).to.include(anchor);
      }
    }
  });

  it('are all in their index, which llms.txt repeats', () => {
    const root = new URL('../', docs);
    const index = readFileSync(new URL('README.md', docs), 'utf8');
    const entries = [...index.matchAll(/^- \[.*$/gm)].map(([entry]) => entry);
    const listed = entries.map((entry) => /\]\((.*?)\)/.exec(entry)?.[1]);
    const pages = globSync(['*.md', '*/README.md'], { cwd: docs.pathname }).filter((file) => file !== 'README.md');
    expect(listed).to.have.members(pages);
    const forModels = readFileSync(new URL('llms.txt', root), 'utf8');
    const repeated = entries.map((entry) => entry.replace('](', '](docs/'));
    const ofDocs = forModels.split('\n').filter((line) => line.includes('](docs/'));
    expect(ofDocs, 'llms.txt').to.have.members(repeated);
    for (const [, path = ''] of forModels.matchAll(/\]\((.*?)\)/g)) {
      expect(existsSync(new URL(path, root)), path).to.equal(true);
    }
  });

  it('on the code name only existing files', () => {
    const root = new URL('../', docs);
    for (const name of ['docs/architecture.md', 'CONTRIBUTING.md']) {
      const page = readFileSync(new URL(name, root), 'utf8');
      const named = [...page.matchAll(/(?<=[ `])[a-z-]+\/[\w/-]*(?:\.ts\b|(?=`))/g)];
      const missing = named
        .map(([path]) => path)
        // The life of a login leaves out src/.
        .filter((path) => [path, `src/${path}`].every((one) => !existsSync(new URL(one, root))));
      expect(named).not.to.deep.equal([]);
      expect(missing).to.deep.equal([]);
    }
  });

  it('on each review are in their index, and name only existing files', () => {
    const audits = new URL('audits/', docs);
    const textOf = (name: string) => readFileSync(new URL(name, audits), 'utf8');
    const reviews = readdirSync(audits).filter((file) => file !== 'README.md');
    const listed = [...textOf('README.md').matchAll(/\]\((\d[^)]*)\)/g)].map(([, name]) => name);
    expect(listed).to.have.members(reviews);
    for (const review of reviews) {
      const links = [...textOf(review).matchAll(/\]\(([^)#]+)/g)].map(([, link = '']) => new URL(link, audits));
      const tests = [...textOf(review).matchAll(/`(test\/\S+\.ts)`/g)].map(
        ([, path = '']) => new URL(`../${path}`, docs),
      );
      expect(tests, review).not.to.deep.equal([]);
      expect([...links, ...tests].filter((file) => !existsSync(file)).map(({ pathname }) => pathname)).to.deep.equal(
        [],
      );
    }
  });
});
