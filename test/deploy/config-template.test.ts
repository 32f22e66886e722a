import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { projectRoot } from '../harness/project/run.ts';
import { runRelay } from '../harness/relay/relay-process.ts';
import { listening } from '../harness/relay/relay-under-test.ts';

const template = readFileSync(join(projectRoot, 'deploy/config.yaml'), 'utf8');
const edits: readonly (readonly [string, string])[] = [
  ['base-url:', 'base-url: https://login.example.com'],
  ['    client-id:', '    client-id: Ov23liEXAMPLE'],
  ['    origin:', '    origin: https://app.example.com'],
];

describe('the template of the configuration file', () => {
  const directory = mkdtempSync(join(tmpdir(), 'login-relay-'));
  const config = join(directory, 'config.yaml');

  before('the client secret is stored', () => {
    writeFileSync(join(directory, 'client-secret'), 'a client secret', { mode: 0o640 });
  });

  after('the files are removed', () => rmSync(directory, { recursive: true }));

  it('starts with the line that tells editors its schema', () => {
    expect(template).to.match(/^# yaml-language-server: \$schema=\S+\/config\.schema\.json\n/);
  });

  it('does not start a relay until three settings have a value', async () => {
    writeFileSync(config, template);
    const { code, stderr } = await runRelay({ flags: { config } });
    expect(code).to.equal(2);
    expect([...stderr.matchAll(/^ +\S+:\d+:\d+ (\S+) has no value$/gm)].map(([, key]) => key))
      .to.deep.equal(['base-url', 'providers.github.client-id', 'front-ends.app.origin'])
      .and.have.lengthOf(stderr.match(/config\.yaml/g)?.length ?? 0);
  });

  it('starts a relay without a warning after these three edits', async () => {
    const edited = edits.reduce((text, [line, full]) => {
      expect(text.split(`\n${line}\n`), line).to.have.lengthOf(2);
      return text.replace(`\n${line}\n`, `\n${full}\n`);
    }, template);
    writeFileSync(config, edited);
    const keyFile = join(directory, 'key');
    writeFileSync(keyFile, 'a secret of more than 32 characters', { mode: 0o600 });
    const flags = { config, 'key-file': keyFile, port: '0' };
    const { relay, callbackUrl } = await listening({ flags });
    expect(callbackUrl).to.equal('https://login.example.com/auth/github/callback');
    expect(relay.logLines.filter(({ level }) => level !== 'info')).to.deep.equal([]);
    expect(await relay.stop()).to.include({ code: 0, stderr: '' });
  });
});
