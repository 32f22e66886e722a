import { cpSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { archiveContent } from '../../scripts/binary/archive-content.ts';
import { deadLinks } from '../harness/project/links.ts';
import { projectRoot } from '../harness/project/run.ts';

describe('the archive', () => {
  const folder = mkdtempSync(join(tmpdir(), 'login-relay-archive-'));

  before('its pages are gathered', () => {
    for (const part of archiveContent) {
      cpSync(join(projectRoot, part), join(folder, part), { recursive: true });
    }
  });

  after('its pages are removed', () => rmSync(folder, { recursive: true }));

  it('contains every file that its pages link to', () => {
    expect(deadLinks(folder)).to.deep.equal([]);
  });

  it('fails this check if a file is missing', () => {
    writeFileSync(
      join(folder, 'docs/page.md'),
      '[a](b.md) [c](../src/relay/app.ts) [d](install.md#e)',
    );
    writeFileSync(join(folder, 'other.md'), '[f](../LICENSE) [g](docs/install.md#as-an-image)');
    expect(deadLinks(folder).sort()).to.deep.equal([
      'docs/page.md: ](../src/relay/app.ts)',
      'docs/page.md: ](b.md)',
      'docs/page.md: ](install.md#e)',
      'other.md: ](../LICENSE)',
    ]);
  });
});
