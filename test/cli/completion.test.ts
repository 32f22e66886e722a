import { expect } from 'chai';
import { complete } from '../../src/cli/commands/completion.ts';
import { createProgram } from '../../src/cli/program.ts';
import { options } from '../../src/config/settings/settings.ts';
import { presets } from '../../src/providers/presets.ts';

describe('the words that shells are offered', () => {
  const program = createProgram(Object.create(null), () => {});
  const lines = (...words: string[]) => complete(words, program).split('\n').slice(0, -1);
  const offered = (...words: string[]) => lines(...words).map((line) => line.split('\t')[0]);
  const flags = Object.values(options).map(({ flag }) => flag);

  it('are the commands first, with their help', () => {
    expect(offered('')).to.include.members([
      'check',
      'completion',
      'config',
      'demo',
      'help',
      'man',
      'providers',
      'serve',
      'version',
    ]);
    for (const line of lines('')) expect(line).to.match(/^[a-z-]+\t\S/);
  });

  for (const command of [[], ['serve'], ['check'], ['config', 'print']]) {
    it(`are every option of "login-relay ${command.join(' ')}", with its help`, () => {
      expect(offered(...command, '--')).to.include.members(flags);
      for (const line of lines(...command, '--')) expect(line).to.match(/^--[a-z-]+\t\S/);
    });
  }

  for (const [line, expected] of [
    ['che', ['check']],
    ['check', ['check']],
    ['--insecure-http che', []],
    ['demo --', ['--help', '--origin', '--port', '--token-delivery']],
    ['providers --', ['--help']],
    ['check --js', ['--json']],
    ['--js', []],
    ['completion ', ['bash', 'fish', 'zsh']],
    ['config ', ['check', 'print', 'migrate', 'schema']],
    ['help prov', ['providers']],
    ['--provider ', presets.map(({ name }) => name)],
    ['check --state-check ', ['always', 'browsers', 'off']],
    ['--port 0 --log-format j', ['json']],
    ['--log-level=', options.logLevel.schema.options],
    ['--log-level=de', ['debug']],
    // As bash splits it.
    ['--log-level = de', ['debug']],
    ['--redirect-uri https://a.example --redirect-', ['--redirect-uri']],
    ['--client-secret-file secret', [':']],
    ['--key-file secret', [':']],
    ['--port ', []],
    ['--client-id ', []],
    ['--origin ', []],
  ] as const) {
    it(`are ${expected.slice(0, 5).join(', ') || 'none'} for "login-relay ${line}"`, () => {
      expect(offered(...line.split(' '))).to.have.members([...expected]);
    });
  }
});
