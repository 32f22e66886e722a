import { readdirSync, readFileSync } from 'node:fs';
import { expect } from 'chai';

const docs = new URL('../docs/', import.meta.url);
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
});
