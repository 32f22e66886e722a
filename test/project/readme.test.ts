import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import type { Option } from '../../src/config/settings/setting.ts';
import { options } from '../../src/config/settings/settings.ts';

const readme = readFileSync(new URL('../../README.md', import.meta.url), 'utf8');

function row({ flag, argument, variable, otherwise, default: value, help }: Option): string {
  const usage = argument === undefined ? flag : `${flag} ${argument}`;
  return `| \`${usage}\` | \`${variable}\` | ${value === undefined ? otherwise : `\`${value}\``} | ${help} |`;
}

describe('the README', () => {
  it('lists exactly the existing options', () => {
    const table = readme.split('| flag | variable | default | |\n|---|---|---|---|\n')[1] ?? '';
    const rows = Object.values(options).map((option) => row(option));
    expect(table.split('\n\n')[0]?.split('\n')).to.deep.equal(rows);
  });

  it('names only existing make targets', () => {
    const makefile = readFileSync(new URL('../../Makefile', import.meta.url), 'utf8');
    for (const [, target] of readme.matchAll(/\bmake ([a-z-]+)/g)) {
      expect(makefile).to.match(new RegExp(`^${target}:`, 'm'));
    }
  });
});
