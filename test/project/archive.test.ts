import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { gatherDocuments } from '../../scripts/binary/archive-content.ts';
import { pageWithout } from '../../scripts/repository.ts';
import { version } from '../../src/version.ts';
import { deadLinks } from '../harness/project/links.ts';

describe('the archive', () => {
  const folder = mkdtempSync(join(tmpdir(), 'login-relay-archive-'));

  before('its pages are gathered', () => gatherDocuments(folder));

  after('its pages are removed', () => rmSync(folder, { recursive: true }));

  it('contains every file that its pages link to', () => {
    expect(deadLinks(folder)).to.deep.equal([]);
  });

  it('links to the repository for other files, if package.json names it', () => {
    const page = (address: string) =>
      pageWithout('docs/a.md', '[B](b.md#c), [R](../README.md)', (path) => path === 'docs/b.md', address);
    expect(page('https://git.example.com/a')).to.equal(
      `[B](b.md#c), [R](https://git.example.com/a/blob/v${version}/README.md)`,
    );
    expect(page('')).to.equal('[B](b.md#c), R');
  });
});
