import { spawnSync } from 'node:child_process';
import { expect } from 'chai';
import packageJson from '../../package.json' with { type: 'json' };
import { relayCommand, runRelay } from '../harness/relay/relay-process.ts';

describe('a mistyped command line', () => {
  for (const [line, message] of Object.entries({
    chekc: 'unknown command chekc: did you mean check?',
    'help providrs': 'unknown command providrs: did you mean providers?',
    '--prot 8001': 'unknown option --prot: did you mean --port?',
    'health --prot=1': 'unknown option --prot: did you mean --port?',
    'check --jsn': 'unknown option --jsn: did you mean --json?',
    '--client-secrt=hunter2': 'unknown option --client-secrt: did you mean --client-secret?',
    '--client-secrt hunter2': 'unknown option --client-secrt: did you mean --client-secret?',
    'serve --client-secrt=hunter2': 'unknown option --client-secrt: did you mean --client-secret?',
    '-xhunter2': 'unknown option -x',
    '--client-secrethunter2': 'unknown option',
    '--hunter2-hunter2': 'unknown option',
    '--insecure-http=hunter2': '--insecure-http takes no value',
    'systemd --socket=hunter2': '--socket takes no value',
    '--client-secret': "option '--client-secret <secret>' argument missing",
    hunter2: 'unknown command or unexpected argument',
    '-- hunter2': 'unknown command or unexpected argument',
    'serve hunter2': 'serve is followed by an unexpected argument',
    completion: 'completion takes one of: bash, zsh, fish',
    'completion hunter2': 'completion takes one of: bash, zsh, fish',
  })) {
    it(`gets what is wrong, a suggestion, and no value: login-relay ${line}`, async () => {
      const { code, stdout, stderr } = await runRelay({ words: line.split(' ') });
      expect({ code, stdout }).to.deep.equal({ code: 2, stdout: '' });
      expect(stderr).to.equal(`login-relay: ${message}\nSee login-relay --help.\n`);
    });
  }

  it('is explained if npm has taken the options of the demo', async () => {
    const npm_config_origin = 'http://localhost:5173';
    const env = { npm_lifecycle_event: 'demo', npm_config_origin };
    for (const words of [['demo'], ['demo', npm_config_origin]]) {
      const { code, stderr } = await runRelay({ words, env });
      expect(code).to.equal(2);
      expect(stderr).to.contain('npm run demo --').and.not.contain(npm_config_origin);
    }
  });

  it('quotes no secret that is given twice', async () => {
    const secret = '--client-secret=hunter2';
    const required = ['--origin=https://a.example', '--client-id=a'];
    const { code, stderr } = await runRelay({ words: [secret, secret, ...required] });
    expect(code).to.equal(2);
    expect(stderr).to.contain('given more than once').and.not.contain('hunter2');
  });
});

describe('the command line', () => {
  it('prints its version', async () => {
    const printed = { code: 0, stdout: `${packageJson.version}\n`, stderr: '' };
    for (const word of ['--version', '-V', 'version']) {
      expect(await runRelay({ words: [word] })).to.include(printed);
    }
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
