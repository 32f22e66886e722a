import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { projectRoot } from '../harness/project/run.ts';
import { runRelay } from '../harness/relay/relay-process.ts';
import { listening } from '../harness/relay/relay-under-test.ts';
import { MemoryServerHere } from '../harness/system/memory-server-here.ts';

const template = (name: string) => readFileSync(join(projectRoot, 'deploy', name), 'utf8');
const values: Readonly<Record<string, string>> = {
  'base-url:': 'https://login.example.com',
  '    client-id:': 'Ov23liEXAMPLE',
  '    origin:': 'https://app.example.com',
};
const noMetrics = { 'metrics-host': '127.0.0.1', 'metrics-port': '0' };

/** The files and the server that a template names, as the test has them. */
const ownFiles = (directory: string, server: MemoryServerHere) =>
  [
    [/(?<=^shared-memory: ).*/m, server.address],
    [/(?<=^key-file: ).*/m, join(directory, 'key')],
    [/(?<=client-secret-file: ).*/m, './client-secret'],
  ] as const;

describe('the template of the configuration file', () => {
  const directory = mkdtempSync(join(tmpdir(), 'login-relay-'));
  const config = join(directory, 'config.yaml');

  let server: MemoryServerHere;
  before('secret and key are stored', async () => {
    server = await MemoryServerHere.start();
    writeFileSync(join(directory, 'client-secret'), 'a client secret', { mode: 0o640 });
    writeFileSync(join(directory, 'key'), 'a secret of more than 32 characters', { mode: 0o600 });
  });

  after('the files are removed', async () => {
    rmSync(directory, { recursive: true });
    await server.stop();
  });

  it('does not start a relay until three settings have a value', async () => {
    writeFileSync(config, template('config.yaml').replace('/var/lib/login-relay/key', './key'));
    const { code, stderr } = await runRelay({ flags: { config } });
    expect(code).to.equal(2);
    expect([...stderr.matchAll(/^ +\S+:\d+:\d+ (\S+) has no value$/gm)].map(([, key]) => key))
      .to.deep.equal(['base-url', 'providers.github.client-id', 'front-ends.app.origin'])
      .and.have.lengthOf(stderr.match(/config\.yaml/g)?.length ?? 0);
  });

  const edited = {
    'config.yaml': ['base-url:', '    client-id:', '    origin:'],
    'docker/config.yaml': ['    client-id:'],
    'kubernetes/config.yaml': [],
  };
  for (const [name, lines] of Object.entries(edited)) {
    it(`starts a relay without a warning after ${lines.length} edits: ${name}`, async () => {
      let text = template(name);
      expect(text).to.match(/^# yaml-language-server: \$schema=\S+\/config\.schema\.json\n/);
      for (const line of lines) {
        expect(text.split(`\n${line}\n`), line).to.have.lengthOf(2);
        text = text.replace(`\n${line}\n`, `\n${line} ${values[line]}\n`);
      }
      for (const [path, own] of ownFiles(directory, server)) text = text.replace(path, own);
      writeFileSync(config, text);
      const flags = {
        config,
        host: '127.0.0.1',
        port: '0',
        ...(text.includes('metrics-port') && noMetrics),
      };
      const { relay, callbackUrl } = await listening({ flags });
      expect(callbackUrl).to.match(/^https:\/\/login\.\w+(\.com)?\/auth\/github\/callback$/);
      expect(relay.logLines.filter(({ level }) => level !== 'info')).to.deep.equal([]);
      expect(await relay.stop()).to.include({ code: 0, stderr: '' });
    });
  }
});
