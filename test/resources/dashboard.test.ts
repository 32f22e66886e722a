import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { findMissingScopes } from '../../src/check/access.ts';
import { readFileConfig } from '../config/support/read.ts';
import { bearer, check, resourcesRelay, secret } from './support/resources-relay.ts';

const page = readFileSync(new URL('../../docs/dashboard.md', import.meta.url), 'utf8');
const [, fileOfPrograms = ''] = /^## Agents and machines.*?```yaml\n(.*?)```/ms.exec(page) ?? [];
const [, frontEnds = ''] = /front-ends:\n(.*)$/s.exec(fileOfPrograms) ?? [];

describe('docs/dashboard.md', () => {
  const relay = resourcesRelay({
    here: true,
    relay: 'trusted-proxies: 127.0.0.1\nresources: { wiki: { url: https://wiki.example.com/, browser: true } }',
    frontEnds,
    files: { './nightly-secret': secret },
  });

  it('has a command that prints a token, which opens the dashboard', async () => {
    const [, command = ''] = /\$\(node (.*?) https:\/\/login\.example\.com\/auth\/github (.*?)\)/.exec(page) ?? [];
    const file = fileURLToPath(new URL(`../../${command}`, import.meta.url));
    const args = [file, `${relay().address}/auth/provider`, '--token'];
    const program = spawn(process.execPath, args, { env: {}, stdio: 'pipe' });
    const printed = text(program.stdout);
    const [asks] = await once(program.stderr, 'data');
    const told = text(program.stderr);
    await fetch(await relay().visit(`${asks}`.trim().replace('Open ', '')));
    expect(await told).to.equal('You are ada\n');
    const token = (await printed).trim();
    const asked: [string, string][] = [
      ['X-Forwarded-Method', 'GET'],
      ['X-Forwarded-Uri', '/'],
    ];
    const { status, headers } = await check(relay(), 'wiki', bearer(token), ...asked);
    expect([status, headers['x-forwarded-preferred-username']]).to.deep.equal([204, 'ada']);
  });

  it('has files without a fault or a warning', () => {
    const texts = ['./github-secret', './google-secret', './nightly-secret'].map((name) => [name, { text: secret }]);
    const blocks = page.matchAll(/```yaml\n(.*?)```/gs).map(([, block = '']) => block);
    // Without a proxy, the relay needs a certificate.
    const read = [...blocks].filter((block) => !block.includes('tls-cert'));
    expect(read).to.have.length(4);
    for (const block of read) {
      const { warnings, config } = readFileConfig(block, { files: Object.fromEntries(texts) });
      expect(warnings).to.deep.equal([]);
      expect(findMissingScopes(config)).to.deep.equal([]);
    }
  });
});
