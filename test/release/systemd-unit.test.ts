import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import { limits } from '../../src/limits.ts';
import { needs, projectRoot, run } from './support/run.ts';

const unit = 'deploy/systemd/login-relay.service';

describe('the systemd unit', () => {
  needs('systemd-analyze');

  it('is exposed to 1.5 of 10 at most', () => {
    const { code, stdout, stderr } = run('systemd-analyze', [
      'security',
      '--offline=true',
      '--threshold=15',
      '--no-pager',
      unit,
    ]);
    expect(code, stderr).to.equal(0);
    expect(stdout).to.match(/Overall exposure level for login-relay\.service: [01]\.\d/);
  });

  it('passes the client secret on as a credential, never as a variable or an argument', () => {
    const text = readFileSync(`${projectRoot}/${unit}`, 'utf8');
    expect(text).to.match(
      /^LoadCredential=provider-client-secret:\/etc\/login-relay\/client-secret$/m,
    );
    expect(text).to.match(/^ExecStart=\/usr\/bin\/login-relay$/m);
    expect(text).to.not.match(/^Environment=/m);
  });

  it('waits for longer than requests under way are given to finish', () => {
    const text = readFileSync(`${projectRoot}/${unit}`, 'utf8');
    const [, seconds] = /^TimeoutStopSec=(\d+)s$/m.exec(text) ?? [];
    expect(Number(seconds) * 1000).to.be.above(limits.stopTime);
  });

  it('leaves memory executable, which V8 compiles into', () => {
    const text = readFileSync(`${projectRoot}/${unit}`, 'utf8');
    expect(text).to.not.match(/^MemoryDenyWriteExecute=/m);
  });
});
