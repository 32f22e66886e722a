import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import packageJson from '../../../package.json' with { type: 'json' };
import { createProgram } from '../../../src/cli/program.ts';
import type { Option } from '../../../src/config/settings/setting.ts';
import { options } from '../../../src/config/settings/settings.ts';
import { run } from '../../harness/project/run.ts';
import { sources } from '../../harness/relay/relay-process.ts';
import { needsPrograms } from '../../harness/system/needs.ts';

const program = createProgram(Object.create(null), () => {});

const { describe } = needsPrograms('man', 'mandoc');

describe('the manual page', () => {
  const directory = mkdtempSync(join(tmpdir(), 'login-relay-manual-'));
  const file = join(directory, 'login-relay.1');
  let page = '';

  before('the page is generated and shown', () => {
    const { code, stdout } = run(process.execPath, [sources, 'man'], {
      env: { SOURCE_DATE_EPOCH: '1700000000' },
    });
    expect(code).to.equal(0);
    writeFileSync(file, stdout);
    page = run('man', ['--local-file', file], {
      env: { MANWIDTH: '400', LC_ALL: 'C.UTF-8', MAN_KEEP_FORMATTING: '' },
    }).stdout.replaceAll(/ {2,}/g, (spaces) => (spaces.length > 6 ? spaces : ' '));
  });

  after('the page is removed', () => rmSync(directory, { recursive: true }));

  it('has every section, in the order of man-pages(7)', () => {
    expect(page.match(/^[A-Z][A-Z ]+$/gm)).to.deep.equal([
      'NAME',
      'SYNOPSIS',
      'DESCRIPTION',
      'COMMANDS',
      'OPTIONS',
      'ENVIRONMENT',
      'FILES',
      'EXIT STATUS',
      'EXAMPLES',
      'SECURITY',
      'SEE ALSO',
    ]);
  });

  it('has the flag, help, variable and default of every option', () => {
    const shown = page.replaceAll(/\s+/g, ' ');
    for (const { flag, argument = '', help, variable } of Object.values<Option>(options)) {
      const usage = `${flag} ${argument}`.trim();
      expect(shown).to.contain(`${usage} ${help} (${variable}; `);
    }
  });

  it('has only existing flags', () => {
    const flags = new Set(page.match(/--[a-z-]+/g));
    const help = program.createHelp();
    const known = [program, ...program.commands].flatMap((command) =>
      help.visibleOptions(command).map(({ long }) => long ?? ''),
    );
    expect(new Set(known)).to.include.all.keys([...flags]);
    expect(flags).to.include.all.keys(Object.values(options).map(({ flag }) => flag));
  });

  it('says which commands read the file of the packaged service', () => {
    const shown = page.replaceAll(/\s+/g, ' ');
    expect(shown).to.match(/login-relay check and login-relay config check, print and migrate read it/);
  });

  it('describes every command as help does', () => {
    const section = /^COMMANDS$[\s\S]*(?=^OPTIONS$)/m.exec(page)?.[0] ?? '';
    for (const command of program.createHelp().visibleCommands(program)) {
      const item = new RegExp(`^ +login-relay ${command.name()}\\b.*\\n +(.*)`, 'm').exec(section);
      expect(item?.[1], command.name()).to.contain(command.description());
    }
  });

  it('has the version, and the date of the release', () => {
    const footer = page.trim().split('\n').at(-1);
    expect(footer).to.match(new RegExp(`^login-relay ${packageJson.version}\\s+2023-11-14\\s`));
  });

  it('causes no warning of mandoc', () => {
    expect(run('mandoc', ['-T', 'lint', '-W', 'all', file])).to.deep.equal({
      code: 0,
      stdout: '',
      stderr: '',
    });
  });

  it('causes no warning of groff', () => {
    const args = ['--warnings', '-E', 'UTF-8', '--local-file', '-Tutf8', '-Z', file];
    const { stderr } = run('man', args, { env: { LC_ALL: 'C.UTF-8', MANWIDTH: '80' } });
    expect(stderr).to.equal('');
  });
});
