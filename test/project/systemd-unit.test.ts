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

    for (const [title, lines] of Object.entries({
      'names the configuration file in a variable, which an empty one of the operator overrides': [
        'Environment=LOGIN_RELAY_CONFIG=/etc/login-relay/config.yaml',
        'EnvironmentFile=-/etc/default/login-relay',
        `ExecStart=/usr/bin/login-relay${argument}`,
      ],
      'passes secret and key file on as credentials, for an operator who has only variables': [
        'LoadCredential=provider-client-secret:/etc/login-relay/client-secret',
        'LoadCredential=key:/etc/login-relay/key',
      ],
      'runs as the user of all relays of the machine, which owns the directory of the key file': [
        ...['User=login-relay', 'StateDirectory=login-relay', 'StateDirectoryMode=0700'],
        'UMask=0077',
      ],
      'starts the relay without a secret and a key, so that the relay can log what is missing': [
        ...['SetCredential=provider-client-secret:\\n', 'SetCredential=key:\\n'],
        'RestartPreventExitStatus=2',
      ],
    })) {
      it(title, () => expect(text.split('\n')).to.include.members(lines));
    }

    it('has no other variable, and no condition that keeps the relay from logging what is missing', () => {
      expect(text.match(/^Environment=/gm)).to.have.lengthOf(1);
      expect(text).to.not.match(/^(Assert|Condition)/m);
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
  it('have their user', () => {
    const users = readFileSync(`${projectRoot}/deploy/systemd/login-relay.sysusers`, 'utf8');
    expect(users).to.match(/^u login-relay /m);
  });

  it('differ only in the socket, the port and the variables of one instance', () => {
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
