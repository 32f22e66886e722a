import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { limits } from '../../../src/limits.ts';
import { projectRoot, run } from '../../harness/project/run.ts';
import { needsPrograms, needsRoot } from '../../harness/system/needs.ts';

const { describe } = needsRoot('ldd', 'chroot', 'find');

describe('the image', () => {
  const directory = mkdtempSync(join(tmpdir(), 'login-relay-image-'));
  const root = join(directory, 'root');
  const compose = readFileSync(`${projectRoot}/deploy/docker/compose.yaml`, 'utf8');

  // The runtime replaces the binary here. Both are linked with the same libraries.
  before('its content is gathered', () => {
    const { code, stderr } = run('deploy/docker/image-root.sh', [process.execPath, root]);
    expect(code, stderr).to.equal(0);
  });

  after('its content is removed', () => rmSync(directory, { recursive: true }));

  it('contains everything that the binary needs to run, as its user', () => {
    const user = '--userspec=65532:65532';
    const ending = run('chroot', [user, root, '/usr/bin/login-relay', '--version']);
    expect(ending).to.deep.equal({ code: 0, stdout: `${process.version}\n`, stderr: '' });
  });

  it('contains no other program', () => {
    const { stdout } = run('find', [root, '-type', 'f', '-perm', '/111']);
    const programs = stdout.split('\n').filter((path) => path && !path.includes('.so.'));
    expect(programs).to.deep.equal([`${root}/usr/bin/login-relay`]);
  });

  it('contains the certificates of public authorities', () => {
    const certificates = readFileSync(`${root}/etc/ssl/certs/ca-certificates.crt`, 'utf8');
    expect(certificates.match(/BEGIN CERTIFICATE/g)).to.have.length.above(100);
  });

  it('has more time to stop than requests in flight have to finish', () => {
    const installing = readFileSync(`${projectRoot}/docs/install.md`, 'utf8');
    const [, grace] = /^ {4}stop_grace_period: (\d+)s$/m.exec(compose) ?? [];
    const [, timeout] = /^docker run .*--stop-timeout (\d+) /m.exec(installing) ?? [];
    expect(Number(grace) * 1000).to.be.above(limits.stopTime);
    expect(Number(timeout) * 1000).to.be.above(limits.stopTime);
  });

  needsPrograms('caddy').describe('behind Caddy, as compose runs it', () => {
    it('is behind a Caddy that logs requests without their queries', () => {
      const config = `${projectRoot}/deploy/docker/Caddyfile`;
      const env = { APP_HOST: 'app.localhost', LOGIN_HOST: 'login.localhost', DOCUMENTS_HOST: 'documents.localhost' };
      const args = ['validate', '--adapter', 'caddyfile', '--config', config];
      const { code, stderr } = run('caddy', args, { env });
      expect(code, stderr).to.equal(0);
      const [, filter = ''] = /(\tlog \{\n.*?\n\t\}\n)/s.exec(readFileSync(config, 'utf8')) ?? [];
      expect(filter).to.contain('request>uri regexp');
      expect(readFileSync(`${projectRoot}/deploy/caddy/Caddyfile`, 'utf8')).to.contain(filter);
    });
  });
});
