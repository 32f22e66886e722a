import { spawnSync } from 'node:child_process';
import { expect } from 'chai';
import packageJson from '../../package.json' with { type: 'json' };
import { relayCommand, runRelay } from '../harness/relay/relay-process.ts';

describe('a mistyped command line', () => {
  const mistakes: Record<string, string[]> = {
    'unknown command chekc: did you mean check?': ['chekc'],
    'unknown command providrs: did you mean providers?': ['help', 'providrs'],
    'unknown option --prot: did you mean --port?': ['--prot', '8001'],
    'unknown option --client-secrt: did you mean --client-secret?': ['--client-secrt=hunter2'],
    'unknown option --jsn: did you mean --json?': ['check', '--jsn'],
    'unknown option --prot: did you mean --port? ': ['health', '--prot=1'],
    '--insecure-http takes no value': ['--insecure-http=hunter2'],
    '--socket takes no value': ['systemd', '--socket=hunter2'],
    'unknown command or unexpected argument': ['entirely-different'],
    'serve is followed by an unexpected argument': ['serve', 'chekc'],
    'completion takes one of: bash, zsh, fish': ['completion'],
    'completion takes one of: bash, zsh, fish ': ['completion', 'hunter2'],
  };
  for (const [message, words] of Object.entries(mistakes)) {
    it(`gets a suggestion: login-relay ${words.join(' ')}`, async () => {
      const { code, stdout, stderr } = await runRelay({ words });
      expect({ code, stdout }).to.deep.equal({ code: 2, stdout: '' });
      expect(stderr).to.equal(`login-relay: ${message.trim()}\nSee login-relay --help.\n`);
    });
  }
});

describe('the command line', () => {
  it('prints the version with a command, too', async () => {
    expect(await runRelay({ words: ['version'] })).to.deep.include({
      code: 0,
      stdout: `${packageJson.version}\n`,
      stderr: '',
    });
  });

  it('explains a command with "help" as with "--help"', async () => {
    for (const command of ['check', 'completion', 'help']) {
      const [byCommand, byFlag] = await Promise.all([
        runRelay({ words: ['help', command] }),
        runRelay({ words: [command, '--help'] }),
      ]);
      expect(byCommand).to.deep.equal({ ...byFlag, code: 0 });
    }
    expect(await runRelay({ words: ['help'] })).to.deep.equal(
      await runRelay({ words: ['--help'] }),
    );
  });

  it('reports that its output cannot be written', () => {
    for (const command of ['man', 'version']) {
      const script = `"$@" ${command} >/dev/full`;
      const { status, stderr } = spawnSync('sh', ['-c', script, 'sh', ...relayCommand], {
        encoding: 'utf8',
      });
      expect(status).to.equal(1);
      expect(stderr).to.match(/^login-relay: cannot write the output: ENOSPC.*\n$/);
    }
  });

  for (const command of ['--help', 'man', 'completion bash', 'no-such-command 2>&1']) {
    it(`ends without an error if the reader has closed the pipe: ${command}`, () => {
      // The reader closes the pipe before anything is written.
      const script = `(sleep 0.3; exec "$@" ${command}) | true; exec 2>&-`;
      const shell = spawnSync('sh', ['-c', script, 'sh', ...relayCommand], {
        encoding: 'utf8',
      });
      expect(shell.stderr).to.equal('');
    });
  }
});
