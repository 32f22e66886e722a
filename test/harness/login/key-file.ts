import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** A key file for the tests of the `describe` that this is called in. */
export function temporaryKeyFile(): {
  readonly path: () => string;
  write(...keys: string[]): Promise<string>;
} {
  let directory = '';
  const path = () => join(directory, 'key');
  before('make room for a key file', async () => {
    directory = await mkdtemp(join(tmpdir(), 'login-relay-'));
  });
  after('remove the key file', async () => await rm(directory, { recursive: true }));
  return {
    path,
    async write(...keys) {
      await writeFile(path(), `${keys.join('\n')}\n`, { mode: 0o600 });
      return path();
    },
  };
}
