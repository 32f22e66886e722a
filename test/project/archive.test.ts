import { cpSync, mkdtempSync, rmSync } from 'node:fs';
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
});
