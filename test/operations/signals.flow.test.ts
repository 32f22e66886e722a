import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { expectLogin, FakeBrowser } from '../harness/browser/fake-browser.ts';
import { expectError, expectToken, expectUser } from '../harness/expect/expectations.ts';
import { metadata, openIdPath } from '../harness/provider/metadata.ts';
import { json, type Reply } from '../harness/provider/provider-behaviours.ts';
import { StrictProvider, userRecord } from '../harness/provider/strict-provider.ts';
import { RelayProcess } from '../harness/relay/relay-process.ts';
import {
  flagsFor,
  keyFile,
  RelayUnderTest,
  registration,
  secretFile,
  startRelay,
} from '../harness/relay/relay-under-test.ts';
import { selfSignedCertificate } from '../harness/system/certificate.ts';
import { freePort } from '../harness/system/free-port.ts';

describe('signals during the start, while a relay waits for its issuer', () => {
  let provider: StrictProvider;
  let reply: Reply;

  const inOrder: Reply = (response) => json(metadata(provider.origin))(response);

  beforeEach(async () => {
    reply = inOrder;
    provider = await StrictProvider.start(registration());
    provider.pages = { [openIdPath]: (response) => reply(response) };
  });
  afterEach(() => provider.stop());

  async function withRelay(act: (relay: RelayProcess, port: number, file: string) => Promise<void>): Promise<void> {
    const file = await secretFile(provider.registration.clientSecret);
    const port = await freePort();
    // With all three endpoints by hand, there would be nothing to discover.
    const discovered = { issuer: provider.origin, 'token-request': 'query' };
    const own = { 'key-file': await keyFile(), port: `${port}` };
    const { 'authorize-url': _, ...flags } = flagsFor(provider, file);
    const relay = new RelayProcess({ flags: { ...flags, ...discovered, ...own } });
    try {
      await act(relay, port, file);
    } finally {
      await relay.stop('SIGKILL');
    }
  }

  /** Holds the next request for metadata. Resolves when it arrives, with the function that answers it. */
  async function nextIsHeld(): Promise<() => void> {
    const response = await new Promise<Parameters<Reply>[0]>((resolve) => {
      reply = (held) => {
        reply = inOrder;
        resolve(held);
      };
    });
    return () => inOrder(response);
  }

  const reloads = (relay: RelayProcess) =>
    relay.logLines.filter(({ msg }) => String(msg).startsWith('reloaded')).length;

  it('are handled, and SIGTERM ends the relay with code 0', async () => {
    const held = nextIsHeld();
    await withRelay(async (relay) => {
      const release = await held;
      process.kill(relay.pid, 'SIGTERM');
      release();
      const { code, signal, stderr } = await relay.ended;
      expect({ code, signal, stderr }).to.deep.equal({ code: 0, signal: null, stderr: '' });
    });
  });

  it('are handled, and after SIGHUP the relay serves with the new content of the files', async () => {
    const held = nextIsHeld();
    await withRelay(async (relay, port, file) => {
      const release = await held;
      await writeFile(file, 'another secret');
      process.kill(relay.pid, 'SIGHUP');
      release();
      await relay.output(() => reloads(relay) > 0 || undefined);
      expectError(await new RelayUnderTest(relay, port, provider).logIn(), 400);
    });
  });

  it('are handled in order, and the last reload counts, even if the reload before takes longer', async () => {
    await withRelay(async (relay, port, file) => {
      await relay.logLine(({ msg }) => msg === 'listening');
      const held = nextIsHeld();
      await writeFile(file, 'another secret');
      process.kill(relay.pid, 'SIGHUP');
      const release = await held;
      await writeFile(file, provider.registration.clientSecret);
      for (let time = 0; time < 5; time += 1) process.kill(relay.pid, 'SIGHUP');
      // The relay has handled the signal when it answers this later request.
      const underTest = new RelayUnderTest(relay, port, provider);
      await underTest.get('/healthz');
      release();
      await relay.output(() => reloads(relay) === 2 || undefined);
      expectToken(await underTest.logIn());
    });
  });

  it('are handled in order, and a slow reload does not undo a stop', async () => {
    await withRelay(async (relay, port) => {
      await relay.logLine(({ msg }) => msg === 'listening');
      const underTest = new RelayUnderTest(relay, port, provider);
      provider.onUser = (response, call) => {
        // The request in flight keeps the relay from ending.
        finish = () => userRecord(response, call);
      };
      let finish = () => {};
      const lookup = underTest.lookUp();
      await provider.arrivals(1);
      const held = nextIsHeld();
      process.kill(relay.pid, 'SIGHUP');
      const release = await held;
      process.kill(relay.pid, 'SIGTERM');
      await relay.logLine(({ msg }) => msg === 'stopping');
      release();
      const discoveries = () => relay.logLines.filter(({ msg }) => msg === 'provider discovery');
      await relay.output(() => discoveries().length === 2 || undefined);
      finish();
      expectUser(await lookup);
      const { code, stderr } = await relay.ended;
      expect({ code, stderr }).to.deep.equal({ code: 0, stderr: '' });
      expect(reloads(relay)).to.equal(0);
    });
  });
});

describe('a reload', () => {
  it('keeps what is known of a provider that does not serve its metadata at the moment', async () => {
    const serving = (provider: StrictProvider) => {
      provider.pages = { [openIdPath]: json(metadata(provider.origin)) };
      return { issuer: provider.origin, 'token-request': 'query', 'authorize-url': undefined };
    };
    const underTest = await startRelay(serving);
    const { provider } = underTest;
    try {
      provider.pages = {};
      expect(await underTest.reload()).to.include({ msg: 'reloaded: no file has changed' });
      expect(await underTest.discoveryLine('failed')).to.include({ reason: 'not_found' });
      expectToken(await underTest.logIn());
      expect((await underTest.get('/readyz')).status).to.equal(200);
    } finally {
      await underTest.stop();
    }
  });

  it('logs the same warnings as the start', async () => {
    const [right, wrong] = await Promise.all(
      ['relay.example', 'elsewhere.example'].map((host) => selfSignedCertificate(host)),
    );
    const pem = await secretFile(right ?? '');
    const tls = { 'tls-cert': pem, 'tls-key': pem, 'refresh-tokens': 'off' };
    const flags = { ...tls, 'token-request': 'query' };
    const underTest = await startRelay(flags);
    const { process: relay } = underTest;
    try {
      expect(relay.logLines.filter(({ level }) => level === 'warn')).to.deep.equal([]);
      await writeFile(pem, wrong ?? '');
      process.kill(relay.pid, 'SIGHUP');
      const warning = await relay.logLine(({ level }) => level === 'warn');
      expect(warning['msg']).to.contain('--tls-cert').and.contain('not for the host');
    } finally {
      await underTest.stop();
    }
  });

  it('does not replace a missing key file, because a new key would log everybody out', async () => {
    const directory = await mkdtemp(join(tmpdir(), 'login-relay-'));
    const path = join(directory, 'key');
    const underTest = await startRelay({ 'key-file': path });
    try {
      const browser = new FakeBrowser(() => underTest);
      const login = await browser.start();
      const key = await readFile(path, 'utf8');
      await rm(path);
      const { msg, faults } = await underTest.reload();
      expect(msg).to.equal('not reloaded: the relay keeps its configuration');
      expect(faults).to.deep.equal(['--key-file (KEY_FILE) names a file that does not exist']);
      expect(await readdir(directory)).to.deep.equal([]);
      expectLogin(underTest, await browser.finish(login), login);
      await writeFile(path, key, { mode: 0o600 });
      expect(await underTest.reload()).to.include({ msg: 'reloaded: no file has changed' });
    } finally {
      await underTest.stop();
      await rm(directory, { recursive: true });
    }
  });
});
