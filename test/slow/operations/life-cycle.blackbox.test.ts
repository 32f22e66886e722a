import { readdir, readFile, readlink, writeFile } from 'node:fs/promises';
import { Agent } from 'node:http';
import { dirname } from 'node:path';
import { expect } from 'chai';
import { expectRedirect } from '../../harness/expect/expectations.ts';
import {
  callbackPath,
  loginPath,
  type RelayUnderTest,
  secretFile,
  startRelay,
  startRelayFor,
  userPath,
  withRelay,
} from '../../harness/relay/relay-under-test.ts';

/** The TCP sockets on which the process listens, by inode; none if the system has no /proc. */
async function listeningSockets(pid: number): Promise<string[]> {
  if (process.platform !== 'linux') return [];
  const links = (await readdir(`/proc/${pid}/fd`)).map((fd) => readlink(`/proc/${pid}/fd/${fd}`));
  const files = (await Promise.allSettled(links)).map((link) => Object(link).value);
  const listening = '0A';
  return (await readFile(`/proc/${pid}/net/tcp`, 'utf8'))
    .split('\n')
    .map((line) => line.trim().split(/ +/))
    .filter(([, , , state, , , , , , inode]) => state === listening && files.includes(`socket:[${inode}]`))
    .map(([, , , , , , , , , inode]) => String(inode));
}

describe('the life of a relay', () => {
  it('answers requests on keep-alive connections while it stops', async () => {
    await withRelay({}, async (underTest) => {
      const agent = new Agent({ keepAlive: true });
      const requests = () => Promise.all([1, 2, 3, 4, 5].map(() => underTest.send({ path: loginPath, agent })));
      await requests();
      process.kill(underTest.process.pid, 'SIGTERM');
      for (const answered of await requests()) expectRedirect(answered);
      expect((await underTest.process.ended).code).to.equal(0);
      agent.destroy();
    });
  });

  it('opens no debugger on SIGUSR1', async () => {
    const underTest = await startRelay();
    const listeners = await listeningSockets(underTest.process.pid);
    process.kill(underTest.process.pid, 'SIGUSR1');
    // Node opens the debugger in another thread, which has had enough time once these are answered.
    for (let request = 0; request < 100; request += 1) await underTest.get('/healthz');
    expect(await listeningSockets(underTest.process.pid)).to.deep.equal(listeners);
    // If Node failed to open a debugger, it would write to standard error, which must be empty.
    await underTest.stop();
  });

  describe('on SIGHUP', () => {
    let underTest: RelayUnderTest;
    beforeEach(async () => {
      underTest = await startRelay();
    });
    afterEach(() => underTest.stop());

    it('says which files have changed, or that none has', async () => {
      const none = await underTest.reload();
      expect(none).to.include({ level: 'info', msg: 'reloaded: no file has changed' });
      expect(none).to.not.have.property('changed');
      await writeFile(underTest.secretFile, 'another');
      const line = await underTest.reload();
      expect(line).to.include({ level: 'info' });
      expect(line['changed']).to.deep.equal([underTest.secretFile]);
    });

    it('warns if its files are credentials, which systemd copies only at a restart', async () => {
      const file = await secretFile(underTest.provider.registration.clientSecret);
      const env = { CREDENTIALS_DIRECTORY: dirname(file) };
      const flags = { 'client-secret-file': undefined };
      const relay = await startRelayFor(underTest.provider, flags, { env });
      const line = await relay.reload();
      expect(line['level']).to.equal('warn');
      expect(line['msg']).to.contain('nothing has changed').and.contain('restart the service');
      expect((await relay.get('/healthz')).status).to.equal(200);
      await relay.process.stop();
    });
  });

  it('without log lines for probes', async () => {
    const underTest = await startRelay();
    await underTest.get('/healthz');
    await underTest.get('/readyz');
    await underTest.get(`${callbackPath}`);
    await underTest.get(userPath);
    await underTest.process.logLine(({ route }) => route === userPath);
    const routes = underTest.process.logLines.map(({ route }) => route);
    expect(routes).to.not.include('/healthz').and.not.include('/readyz');
    await underTest.stop();
  });
});
