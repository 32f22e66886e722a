import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { promisify } from 'node:util';
import { brotliDecompressSync } from 'node:zlib';
import { expect } from 'chai';
import { bundleClient, packageFiles } from '../../scripts/client-bundle.ts';
import { projectRoot } from '../harness/project/run.ts';

const run = promisify(execFile);
const built = (name: string) => readFileSync(`${projectRoot}/client/${name}`);

describe('the browser client', () => {
  it('is the build of client/src, also compressed (make client)', async () => {
    const module = await bundleClient();
    expect(built('client.js').toString()).to.equal(module);
    expect(brotliDecompressSync(built('client.js.br')).toString()).to.equal(module);
  });

  it('is a package with readable code, types, licence and README (make client)', async () => {
    const files = await packageFiles();
    const archive = `${projectRoot}/client/client.tgz`;
    const { stdout: names } = await run('tar', ['-tzf', archive]);
    const expected = [...files.keys()].map((name) => `package/${name}`);
    expect(names.trim().split('\n')).to.have.members(expected);
    for (const [name, text] of files) {
      const { stdout } = await run('tar', ['-xzOf', archive, `package/${name}`]);
      expect(stdout, name).to.equal(text);
    }
  });

  it('begins with its name, version, licence and address', () => {
    const { version } = JSON.parse(`${built('package.json')}`) as { version: string };
    const [banner] = built('client.js').toString().split('\n');
    expect(banner).to.equal(
      `/*! login-relay-client ${version}, MIT, https://github.com/login-relay/login-relay */`,
    );
  });

  it('has 3.6 kB at most, compressed', () => {
    expect(built('client.js.br').length).to.be.at.most(3600);
  });

  it('does nothing where there is no window, so the process ends', async () => {
    const script = `
      import { createLogin } from './client/client.js';
      const login = createLogin({ relay: 'http://localhost:1/auth/provider', clientId: 'app' });
      login.onChange(() => console.log('called'));
      console.log(login.session, await login.ready, await login.user(), await login.token());
      console.log((await login.fetch('http://localhost:1/')).status, await login.logout());
      try { createLogin({ clientId: 'app' }); } catch (error) { console.log(error.message); }`;
    const { stdout } = await run(process.execPath, ['--input-type=module', '--eval', script], {
      cwd: projectRoot,
      timeout: 15_000,
    });
    expect(stdout).to.equal(
      'null null null null\n401 undefined\ncreateLogin: relay is undefined\n',
    );
  });
});
