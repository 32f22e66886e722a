import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { run } from '../../harness/project/run.ts';
import { relayCommand } from '../../harness/relay/relay-process.ts';
import { needsPrograms } from '../../harness/system/needs.ts';

const files = {
  bash: 'bash-completion/completions/login-relay',
  zsh: 'zsh/site-functions/_login-relay',
  fish: 'fish/vendor_completions.d/login-relay.fish',
};
type Shell = keyof typeof files;
const shells = Object.keys(files).filter((name): name is Shell => name in files);

const [relay, ...words] = relayCommand;

describe('completions', () => {
  let directory = '';

  before('the completions are generated', () => {
    directory = mkdtempSync(join(tmpdir(), 'login-relay-completions-'));
    for (const shell of shells) {
      const file = join(directory, files[shell]);
      mkdirSync(dirname(file), { recursive: true });
      const { code, stdout } = run(relay, [...words, 'completion', shell]);
      expect(code).to.equal(0);
      writeFileSync(file, stdout);
    }
    // The scripts ask the program itself.
    mkdirSync(join(directory, 'bin'));
    const asked = [relay, ...words].map((word) => `'${word}'`).join(' ');
    const program = `#!/bin/sh\nexec ${asked} "$@"\n`;
    writeFileSync(join(directory, 'bin/login-relay'), program, { mode: 0o755 });
    mkdirSync(join(directory, 'secrets of mine'));
    writeFileSync(join(directory, 'secret-key'), '');
  });

  after('the completions are removed', () => rmSync(directory, { recursive: true }));

  /** The completions of the shell for the last word of the line, sorted. */
  function complete(shell: Shell, line: string): string[] {
    const script = fileURLToPath(new URL(`support/complete.${shell}`, import.meta.url));
    const words = shell === 'bash' ? line.split(/(?<==)| |(?==)/) : [line];
    const path = `${join(directory, 'bin')}:${process.env['PATH']}`;
    const bare = { bash: [], zsh: ['-f'], fish: ['--no-config'] }[shell];
    const { stdout, stderr } = run(shell, [...bare, script, directory, ...words], {
      cwd: directory,
      env: { HOME: directory, PATH: path, TERM: 'dumb', LC_ALL: 'C.UTF-8' },
    });
    expect(stderr).to.equal('');
    const marked = /BEGIN\r?\n([\s\S]*?)END\r?\n/.exec(stdout)?.[1];
    const found = (shell === 'zsh' ? marked : stdout) ?? `no marks: ${stdout}`;
    return [...new Set(found.split(/\r?\n/).filter(Boolean))].sort();
  }

  for (const shell of shells) {
    needsPrograms(shell).describe(`for ${shell}`, () => {
      it('offer the words that an option accepts, and none for any text', () => {
        expect(complete(shell, 'login-relay check --state-check ')).to.deep.equal(['always', 'browsers', 'off']);
        expect(complete(shell, 'login-relay --client-id ')).to.deep.equal([]);
      });

      it('also offer these words after an equals sign', () => {
        const prefix = shell === 'fish' ? '--log-level=' : '';
        expect(complete(shell, 'login-relay --log-level=de')).to.deep.equal([`${prefix}debug`]);
      });

      it('offer files for an option that names a file', () => {
        const found = complete(shell, 'login-relay --key-file secret');
        expect(found.map((path) => path.replaceAll(/\\(?= )|\/$/g, ''))).to.deep.equal([
          'secret-key',
          'secrets of mine',
        ]);
      });
    });
  }

  needsPrograms('zsh').describe('for zsh', () => {
    it('can also be sourced', () => {
      const script = `autoload -Uz compinit; compinit -u -D; source ${files.zsh}; print $_comps[login-relay]`;
      const { code, stdout, stderr } = run('zsh', ['-f', '-c', script], { cwd: directory });
      expect({ code, stdout, stderr }).to.deep.equal({
        code: 0,
        stdout: '_login-relay\n',
        stderr: '',
      });
    });
  });
});
