import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { promisify } from 'node:util';
import { brotliDecompressSync, gunzipSync, gzipSync } from 'node:zlib';
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
    const packed = filesIn(gunzipSync(built('client.tgz')));
    const expected = [...files].map(([name, text]) => [`package/${name}`, text]);
    expect(packed).to.deep.equal(Object.fromEntries(expected));
  });

  it('has a README with the code of the examples', () => {
    for (const path of [
      'next/app/use-login.js',
      'nuxt/app/composables/useLogin.js',
      'sveltekit/src/use-login.svelte.js',
    ]) {
      const code = readFileSync(`${projectRoot}/examples/${path}`, 'utf8');
      expect(built('README.md').toString()).to.include(`\n${code}\`\`\`\n`);
    }
  });

  it('has 4.4 kB at most with Brotli, and 4.85 kB with gzip', () => {
    expect(built('client.js.br').length).to.be.at.most(4400);
    expect(gzipSync(built('client.js'), { level: 9 }).length).to.be.at.most(4850);
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
    });
    expect(stdout).to.equal(
      'undefined null null null\n401 undefined\n' +
        'createLogin: relay must have a path, such as …/auth/github: undefined\n',
    );
  });
});

/**
 * The files of a tar archive, by their paths. They are no Map, because the difference of two Maps is shown as empty.
 *
 * @see https://www.gnu.org/software/tar/manual/html_node/Standard.html
 */
function filesIn(archive: Buffer): Readonly<Record<string, string>> {
  const files: Record<string, string> = {};
  for (let at = 0; archive[at]; ) {
    const [path = ''] = archive.toString('utf8', at, at + 100).split('\0');
    const size = Number.parseInt(archive.toString('utf8', at + 124, at + 136), 8);
    files[path] = archive.toString('utf8', at + 512, at + 512 + size);
    at += 512 + Math.ceil(size / 512) * 512;
  }
  return files;
}
