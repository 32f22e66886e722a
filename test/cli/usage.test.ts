import { spawnSync } from 'node:child_process';
import { expect } from 'chai';
import { CommanderError } from 'commander';
import packageJson from '../../package.json' with { type: 'json' };
import { createProgram } from '../../src/cli/program.ts';
import { describeUsageError } from '../../src/cli/usage-error.ts';
import { relayCommand, runRelay } from '../harness/relay/relay-process.ts';

/** The error for a command line that cannot be run. */
async function complaintOf(line: string): Promise<string> {
  const argv = line.split(' ');
  const program = createProgram({}, () => {});
  try {
    await program.parseAsync(argv, { from: 'user' });
  } catch (error) {
    if (error instanceof CommanderError) return describeUsageError(error, program, argv);
    throw error;
  }
  throw new Error('the command line was run');
}

/** The standard error of the shell for this script, in which `"$@"` is the command. */
function shell(script: string) {
  return spawnSync('sh', ['-c', script, 'sh', ...relayCommand], { encoding: 'utf8' });
}

describe('a mistyped command line', () => {
  for (const [line, message] of Object.entries({
    chekc: 'unknown command chekc: did you mean check?',
    'help providrs': 'help knows no providrs: did you mean providers?',
    'help option': 'help knows no option: did you mean options?',
    'config chek': 'config knows no chek: did you mean check?',
    '--prot 8001': 'unknown option --prot: did you mean --port?',
    'health --prot=1': 'unknown option --prot: did you mean --port?',
    'check --jsn': 'unknown option --jsn: did you mean --json?',
    '--client-secret-path a': 'unknown option --client-secret-path: did you mean --client-secret-file?',
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
    it(`is answered with the mistake, a suggestion, and no value: login-relay ${line}`, async () => {
      expect(await complaintOf(line)).to.equal(message);
    });
  }

  it('ends the process with 2, and is explained on standard error only', async () => {
    expect(await runRelay({ words: ['chekc'] })).to.include({
      code: 2,
      stdout: '',
      stderr: 'login-relay: unknown command chekc: did you mean check?\nSee login-relay --help.\n',
    });
  });

  it('is explained if npm has taken the options of the demo', async () => {
    const npm_config_origin = 'http://localhost:5173';
    const env = { npm_lifecycle_event: 'demo', npm_config_origin };
    for (const words of [['demo'], ['demo', npm_config_origin]]) {
      const { code, stderr } = await runRelay({ words, env });
      expect(code).to.equal(2);
      expect(stderr).to.contain('npm run demo --').and.not.contain(npm_config_origin);
    }
  });
});

describe('the command line', () => {
  it('prints its version', async () => {
    const printed = { code: 0, stdout: `${packageJson.version}\n`, stderr: '' };
    for (const word of ['--version', 'version']) {
      expect(await runRelay({ words: [word] })).to.include(printed);
    }
  });

  it('explains a command with "help" as with "--help"', async () => {
    for (const command of [['check'], []]) {
      const [byCommand, byFlag] = await Promise.all([
        runRelay({ words: ['help', ...command] }),
        runRelay({ words: [...command, '--help'] }),
      ]);
      expect(byCommand).to.deep.equal({ ...byFlag, code: 0 });
    }
  });

  it('explains its variables and its exit codes', async () => {
    const [environment, exitCodes] = await Promise.all([
      runRelay({ words: ['help', 'environment'] }),
      runRelay({ words: ['help', 'exit-codes'] }),
    ]);
    expect(environment.stdout).to.match(/^NODE_EXTRA_CA_CERTS\n {6}A file (?:.*\n)*^ {2}PORT +--port$/m);
    expect(exitCodes.stdout).to.match(/^2\n {6}The command line or the configuration has faults\.$/m);
  });

  it('reports that its output cannot be written', () => {
    const { status, stderr } = shell('"$@" version >/dev/full');
    expect(status).to.equal(1);
    expect(stderr).to.match(/^login-relay: cannot write the output: ENOSPC.*\n$/);
  });

  it('ends without an error if the reader has closed the pipe', () => {
    // The reader closes the pipe before anything is written.
    for (const command of ['--help', 'man', 'no-such-command 2>&1']) {
      const { stderr } = shell(`(sleep 0.3; exec "$@" ${command}) | true; exec 2>&-`);
      expect(stderr, command).to.equal('');
    }
  });
});
