import { readFileSync } from 'node:fs';
import { expect } from 'chai';

const readme = readFileSync(new URL('../../README.md', import.meta.url), 'utf8');

describe('the README', () => {
  it('names only existing make targets', () => {
    const makefile = readFileSync(new URL('../../Makefile', import.meta.url), 'utf8');
    for (const [, target] of readme.matchAll(/\bmake ([a-z-]+)/g)) {
      expect(makefile).to.match(new RegExp(`^${target}:`, 'm'));
    }
  });
});
