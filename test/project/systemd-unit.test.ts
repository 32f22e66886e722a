import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import { limits } from '../../src/limits.ts';
import { projectRoot, run } from '../harness/project/run.ts';
import { needsPrograms } from '../harness/system/needs.ts';

const units = ['login-relay.service', 'login-relay@.service'];

for (const name of units) {
  const unit = `deploy/systemd/${name}`;
  const text = readFileSync(`${projectRoot}/${unit}`, 'utf8');

  const { describe } = needsPrograms('systemd-analyze');

  describe(`the systemd unit ${name}`, () => {
    it('is exposed to 1.5 of 10 at most', () => {
      const words = ['security', '--offline=true', '--threshold=15', '--no-pager', unit];
      const { code, stdout, stderr } = run('systemd-analyze', words);
      expect(code, stderr).to.equal(0);
      expect(stdout).to.match(/Overall exposure level for login-relay(@\w+)?\.service: [01]\.\d/);
    });

    it('runs no program that a lean system lacks, such as /bin/kill', () => {
      const programs = [...text.matchAll(/^Exec\w+=(\S+)/gm)].map(([, program]) => program);
      expect(programs).to.have.members(['/usr/bin/login-relay', '/bin/sh']);
    });

    it('waits longer than the relay gives requests in flight', () => {
      const [, seconds] = /^TimeoutStopSec=(\d+)s$/m.exec(text) ?? [];
      expect(Number(seconds) * 1000).to.be.above(limits.stopTime + 5_000);
    });
  });
}

describe('the systemd units of one relay and of several', () => {
  it('have their user', () => {
    const users = readFileSync(`${projectRoot}/deploy/systemd/login-relay.sysusers`, 'utf8');
    expect(users).to.match(/^u login-relay /m);
  });

  it('differ only in the socket, the port and the variables of one instance', () => {
    const [one, several] = units.map((name) =>
      readFileSync(`${projectRoot}/deploy/systemd/${name}`, 'utf8')
        .split('\n')
        .filter((line) => line !== '' && !line.startsWith('#')),
    );
    const differs = /^(Description|ExecStart|Requires|StartLimit\w+|Also|EnvironmentFile=-.*-%i)/;
    const shared = (lines: readonly string[] = []) => lines.filter((line) => !differs.test(line));
    expect(shared(several)).to.deep.equal(shared(one));
  });
});
