import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { listening } from '../harness/relay/relay-under-test.ts';

const text = readFileSync(new URL('../../docs/configuration.md', import.meta.url), 'utf8');
const files = [...text.matchAll(/^## ([^\n]+)$(?:(?!^## ).)*?^```yaml\n(.*?)^```$/gms)];

describe('the configuration files of the documentation', () => {
  it('are found', () => {
    expect(files.map(([, title]) => title)).to.deep.equal(['One page', 'A team with previews']);
  });

  for (const [, title = '', file = ''] of files) {
    it(`start a relay: ${title}`, async () => {
      const directory = mkdtempSync(join(tmpdir(), 'login-relay-'));
      try {
        const config = join(directory, 'config.yaml');
        writeFileSync(config, file);
        for (const [, secret = ''] of file.matchAll(/client-secret-file: (\S+)/g)) {
          writeFileSync(join(directory, secret), 'a client secret', { mode: 0o600 });
        }
        const { relay } = await listening({ flags: { config, port: '0' } });
        const { code } = await relay.stop();
        expect(code).to.equal(0);
      } finally {
        rmSync(directory, { recursive: true });
      }
    });
  }
});
