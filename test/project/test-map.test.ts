import { readdirSync, readFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { expect } from 'chai';

const tests = new URL('../', import.meta.url);
const map = readFileSync(new URL('README.md', tests), 'utf8');
const firstCells = [...map.matchAll(/^\| `([^`]+)` \|/gm)].map(([, cell = '']) => cell);

const files = readdirSync(tests, { recursive: true, withFileTypes: true })
  .filter((entry) => entry.isFile())
  .map(({ parentPath, name }) => `${parentPath}/${name}`.slice(tests.pathname.length))
  .map((path) => path.replace(/^\//, ''))
  .filter((path) => !path.includes('node_modules/') && !path.includes('__pycache__'));

/** The folders that a file is in, from the innermost on. */
function foldersOf(path: string): string[] {
  const folder = dirname(path);
  return folder === '.' ? [] : [`${folder}/`, ...foldersOf(folder)];
}

describe('the map of the tests', () => {
  it('has one line for every folder', () => {
    const listed = firstCells.filter((cell) => cell.endsWith('/'));
    expect(listed.sort()).to.deep.equal([...new Set(files.flatMap(foldersOf))].sort());
  });

  it('has one line for every file of the harness', () => {
    const shared = files.filter((path) => path.startsWith('harness/'));
    const listed = firstCells.filter((cell) => /^\w+\/[\w-]+\.\w+$/.test(cell));
    expect(listed.map((path) => `harness/${path}`).sort()).to.deep.equal(shared.sort());
  });
});
