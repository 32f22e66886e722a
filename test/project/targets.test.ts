import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { projectRoot } from '../harness/project/run.ts';

const textOf = (path: string) => readFileSync(join(projectRoot, path), 'utf8');
const guides = globSync('docs/**/*.md', { cwd: projectRoot });
const documents = ['README.md', 'CONTRIBUTING.md', 'test/README.md', ...guides];

describe('the documents', () => {
  it('name only make targets and long runs that exist', () => {
    for (const [file, command] of [
      ['Makefile', /(?:^|`)make ([a-z-]+)/gm],
      ['scripts/long', /(?:^|`)scripts\/long ([a-z-]+)/gm],
    ] as const) {
      const named = documents.flatMap((path) => [...textOf(path).matchAll(command)].map(([, name]) => name));
      expect(named).not.to.be.empty;
      for (const name of named) expect(textOf(file)).to.match(new RegExp(`^ *${name}(?::|\\)$)`, 'm'));
    }
  });
});
