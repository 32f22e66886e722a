import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { listening } from '../harness/relay/relay-under-test.ts';
import { documentedFiles, secretFilesOf } from './support/read.ts';

describe('the configuration files of the documentation', () => {
  it('are found', () => {
    expect([...documentedFiles.keys()]).to.deep.equal([
      'One page',
      'A team with previews',
      "A page that uses the provider's API",
    ]);
  });

  it('name their schema for editors', () => {
    for (const [title, file] of documentedFiles) {
      expect(file, title).to.match(/^# yaml-language-server: \$schema=\.\/config\.schema\.json\n/);
    }
  });

  for (const [title, file] of documentedFiles) {
    it(`start a relay: ${title}`, async () => {
      const directory = mkdtempSync(join(tmpdir(), 'login-relay-'));
      try {
        const config = join(directory, 'config.yaml');
        writeFileSync(config, file);
        for (const secret of secretFilesOf(file)) {
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
