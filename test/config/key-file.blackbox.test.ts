import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { expectLogin, FakeBrowser } from '../harness/browser/fake-browser.ts';
import { StrictProvider } from '../harness/provider/strict-provider.ts';
import type { LogLine } from '../harness/relay/relay-process.ts';
import {
  type RelayUnderTest,
  registration,
  startRelayFor,
} from '../harness/relay/relay-under-test.ts';

const created = ({ msg }: LogLine) =>
  String(msg).includes('(KEY_FILE) names a file that did not exist: created');

describe('a key file that does not exist', () => {
  let directory: string;
  let path: string;
  let provider: StrictProvider;
  const started: RelayUnderTest[] = [];

  beforeEach(async () => {
    directory = await mkdtemp(join(tmpdir(), 'login-relay-'));
    path = join(directory, 'key');
    provider = await StrictProvider.start(registration());
  });
  afterEach(async () => {
    await Promise.all(started.splice(0).map((relay) => relay.process.stop()));
    await provider.stop();
    await rm(directory, { recursive: true });
  });

  async function start(): Promise<RelayUnderTest> {
    const relay = await startRelayFor(provider, { 'key-file': path });
    started.push(relay);
    return relay;
  }

  it('is created once by relays that start together, and all of them use it', async () => {
    const [one, two] = await Promise.all([start(), start()]);
    expect(await readdir(directory)).to.deep.equal(['key']);
    let current = one;
    const browser = new FakeBrowser(() => current);
    const login = await browser.start();
    current = two;
    expectLogin(two, await browser.finish(login), login);
    const lines = [one, two].flatMap(({ process: relay }) => relay.logLines);
    expect(lines.filter(created)).to.have.length(1);
    expect(JSON.stringify(lines)).to.not.contain((await readFile(path, 'utf8')).trim());
  });

  it('is not replaced by a reload: a new key would log everybody out', async () => {
    const relay = await start();
    const browser = new FakeBrowser(() => relay);
    const login = await browser.start();
    const key = await readFile(path, 'utf8');
    await rm(path);
    const { msg, faults } = await relay.reload();
    expect(msg).to.equal('not reloaded: the relay keeps its configuration');
    expect(faults).to.deep.equal(['--key-file (KEY_FILE) names a file that does not exist']);
    expect(await readdir(directory)).to.deep.equal([]);
    expectLogin(relay, await browser.finish(login), login);
    await writeFile(path, key, { mode: 0o600 });
    expect(await relay.reload()).to.include({ msg: 'reloaded: no file has changed' });
  });
});
