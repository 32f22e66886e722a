import { writeFileSync } from 'node:fs';
import { mkdir, mkdtemp, rename, rm, symlink, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { watchFiles } from '../../src/cli/watch-files.ts';

describe('watching files', () => {
  const cleanUp: (() => unknown)[] = [];
  afterEach(async () => {
    for (const undo of cleanUp.splice(0)) await undo();
  });

  async function makeFolder(): Promise<string> {
    const folder = await mkdtemp(join(tmpdir(), 'login-relay-'));
    cleanUp.push(() => rm(folder, { recursive: true }));
    return folder;
  }

  /** Resolves with the first call, and counts further calls. */
  function watch(paths: string[]): { called: Promise<void>; calls(): number } {
    let calls = 0;
    const { promise, resolve } = Promise.withResolvers<void>();
    const stop = watchFiles(
      paths,
      () => {
        calls += 1;
        resolve();
      },
      20,
    );
    cleanUp.unshift(stop);
    return { called: promise, calls: () => calls };
  }

  it('notices if a file is replaced by a file of the same size and time', async () => {
    const file = join(await makeFolder(), 'file');
    await writeFile(file, 'one');
    const watching = watch([file]);
    const then = new Date(0);
    await utimes(file, then, then);
    await watching.called;
    const again = watch([file]);
    await writeFile(`${file}.new`, 'two');
    await utimes(`${file}.new`, then, then);
    await rename(`${file}.new`, file);
    await again.called;
  });

  it('notices that the link to a folder has a new target, as with secrets in Kubernetes', async () => {
    const folder = await makeFolder();
    for (const name of ['old', 'new']) {
      await mkdir(join(folder, name));
      await writeFile(join(folder, name, 'tls.crt'), name);
    }
    await symlink('old', join(folder, '..data'));
    await symlink(join('..data', 'tls.crt'), join(folder, 'tls.crt'));
    const { called } = watch([join(folder, 'tls.crt')]);
    await symlink('new', join(folder, '..data_tmp'));
    await rename(join(folder, '..data_tmp'), join(folder, '..data'));
    await called;
  });

  it('notices that the link to a file has a new target, as after certbot renews a certificate', async () => {
    const folder = await makeFolder();
    for (const name of ['cert1.pem', 'cert2.pem']) await writeFile(join(folder, name), name);
    const link = join(folder, 'cert.pem');
    await symlink('cert1.pem', link);
    const { called } = watch([link]);
    await rm(link);
    await symlink('cert2.pem', link);
    await called;
  });

  it('calls once if several files change together', async () => {
    const folder = await makeFolder();
    const files = [join(folder, 'cert'), join(folder, 'key')];
    for (const file of files) await writeFile(file, 'one');
    const { called, calls } = watch(files);
    // Between two checks of the watcher.
    for (const file of files) writeFileSync(file, 'another');
    await called;
    const later = watch([...files]);
    await writeFile(files[0] ?? '', 'a third');
    await later.called;
    expect(calls()).to.be.lessThan(3);
  });
});
