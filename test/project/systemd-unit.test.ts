import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import { limits } from '../../src/limits.ts';
import { projectRoot, run } from '../harness/project/run.ts';
import { needsPrograms } from '../harness/system/needs.ts';

const units = { 'login-relay.service': '', 'login-relay@.service': ' --port %i' };

for (const [name, argument] of Object.entries(units)) {
  const unit = `deploy/systemd/${name}`;
  const text = readFileSync(`${projectRoot}/${unit}`, 'utf8');

  const { describe } = needsPrograms('systemd-analyze');

  describe(`the systemd unit ${name}`, () => {
    it('is exposed to 1.5 of 10 at most', () => {
      const { code, stdout, stderr } = run('systemd-analyze', [
        'security',
        '--offline=true',
        '--threshold=15',
        '--no-pager',
        unit,
      ]);
      expect(code, stderr).to.equal(0);
      expect(stdout).to.match(/Overall exposure level for login-relay(@\w+)?\.service: [01]\.\d/);
    });

    it('passes the client secret on as a credential, never as a variable or an argument', () => {
      expect(text).to.match(
        /^LoadCredential=provider-client-secret:\/etc\/login-relay\/client-secret$/m,
      );
      expect(text).to.contain(`\nExecStart=/usr/bin/login-relay${argument}\n`);
      expect(text).to.not.match(/^Environment=/m);
    });

    it('passes the key file on as a credential, else has the relay create one', () => {
      expect(text).to.match(/^LoadCredential=key:\/etc\/login-relay\/key$/m);
      expect(text).to.match(/^SetCredential=key:\\n$/m);
      expect(text).to.match(/^StateDirectory=login-relay$/m);
    });

    it('runs as the user of all relays of the machine, which share the state directory', () => {
      expect(text)
        .to.match(/^User=login-relay$/m)
        .and.match(/^DynamicUser=yes$/m);
    });

    it('starts the relay without a secret and settings, so that the relay can log what is missing', () => {
      expect(text).to.match(/^SetCredential=provider-client-secret:\\n$/m);
      expect(text).to.match(/^EnvironmentFile=-\/etc\/default\/login-relay$/m);
      expect(text).to.not.match(/^(Assert|Condition)/m);
      expect(text).to.match(/^RestartPreventExitStatus=2$/m);
    });

    it('waits longer than the relay gives requests in flight', () => {
      const [, seconds] = /^TimeoutStopSec=(\d+)s$/m.exec(text) ?? [];
      expect(Number(seconds) * 1000).to.be.above(limits.stopTime);
    });

    it('allows executable memory, because V8 compiles code into it', () => {
      expect(text).to.not.match(/^MemoryDenyWriteExecute=/m);
    });
  });
}

describe('the systemd units of one relay and of several', () => {
  it('differ only in the socket, the port and the settings of one instance', () => {
    const [one, several] = Object.keys(units).map((name) =>
      readFileSync(`${projectRoot}/deploy/systemd/${name}`, 'utf8')
        .split('\n')
        .filter((line) => line !== '' && !line.startsWith('#')),
    );
    const differs = /^(Description|ExecStart|Requires|StartLimit\w+|Also|EnvironmentFile=-.*-%i)/;
    const shared = (lines: readonly string[] = []) => lines.filter((line) => !differs.test(line));
    expect(shared(several)).to.deep.equal(shared(one));
  });
});
