import { readdirSync, readFileSync } from 'node:fs';
import { expect } from 'chai';

const tests = new URL('../', import.meta.url);
const map = readFileSync(new URL('README.md', tests), 'utf8');
const firstCells = [...map.matchAll(/^\| `([^`]+)` \|/gm)].map(([, cell = '']) => cell);

const entries = readdirSync(tests, { recursive: true, withFileTypes: true })
  .filter(({ parentPath, name }) => !`${parentPath}/${name}`.includes('node_modules'))
  .map((entry) => ({
    entry,
    path: `${entry.parentPath}/${entry.name}`.slice(tests.pathname.length).replace(/^\//, ''),
  }));

describe('the map of the tests', () => {
  it('has one line for every folder', () => {
    const folders = entries
      .filter(({ entry }) => entry.isDirectory())
      .map(({ path }) => `${path}/`);
    const listed = firstCells.filter((cell) => cell.endsWith('/'));
    expect(listed).to.include.members(folders);
  });

  it('has one line for every file of the harness', () => {
    const files = entries
      .filter(({ entry, path }) => entry.isFile() && path.startsWith('harness/'))
      .map(({ path }) => path.slice('harness/'.length));
    const listed = firstCells.filter((cell) => /^\w+\/[\w-]+\.\w+$/.test(cell));
    expect(listed.sort()).to.deep.equal(files.sort());
  });
});
