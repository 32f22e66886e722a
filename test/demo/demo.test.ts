import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { expect } from 'chai';
import { type Demo, describeDemo, startDemo } from '../../src/demo/demo.ts';
import { openFreePort, openPort } from '../../src/demo/open-port.ts';
import { ConfigError, ListenError } from '../../src/start-errors.ts';
import { FakeBrowser } from '../harness/browser/fake-browser.ts';
import { RelayProcess, runRelay } from '../harness/relay/relay-process.ts';

describe('demo', () => {
  async function withDemo(use: (demo: Demo) => Promise<void>): Promise<void> {
    const demo = await startDemo({ port: 0 });
    try {
      await use(demo);
    } finally {
      await demo.close();
    }
  }

  it('logs a person in through the relay, up to their user record', async () => {
    await withDemo(async ({ relayUrl, frontEndUrl, providerUrl }) => {
      const browser = new FakeBrowser();
      const loginPage = await browser.visit(`${relayUrl}/auth/provider`);
      expect(loginPage.url.href).to.contain(`${providerUrl}/login/`);
      const { url: landed } = await browser.submit(loginPage, { name: 'Ada Lovelace' });
      expect(landed.origin).to.equal(frontEndUrl);
      const response = await fetch(`${relayUrl}/api/user`, {
        headers: {
          Authorization: `Bearer ${landed.searchParams.get('access_token')}`,
          Origin: frontEndUrl,
        },
      });
      expect(response.status).to.equal(200);
      expect(response.headers.get('access-control-allow-origin')).to.equal(frontEndUrl);
      expect(await response.json()).to.deep.include({
        login: 'ada-lovelace',
        name: 'Ada Lovelace',
        avatar_url: `${providerUrl}/picture.svg`,
        html_url: `${providerUrl}/`,
      });
    });
  });

  it('runs twice at once with port 0', async () => {
    await withDemo(async (first) => {
      await withDemo(async (second) => {
        const urls = [first, second].flatMap((demo) => [
          demo.relayUrl,
          demo.frontEndUrl,
          demo.providerUrl,
        ]);
        expect(new Set(urls).size).to.equal(6);
      });
    });
  });

  it('uses the next free ports if no port is given, and says so', async () => {
    // The second demo finds the ports of the first in use, or those of another program.
    const first = await startDemo({ port: undefined });
    const second = await startDemo({ port: undefined }).finally(first.close);
    await second.close();
    const ports = (demo: Demo) =>
      [demo.relayUrl, demo.frontEndUrl, demo.providerUrl].map((url) => Number(new URL(url).port));
    expect(Math.min(...ports(second))).to.be.greaterThan(Math.max(...ports(first)));
    expect(Math.min(...ports(first))).to.be.at.least(8000);
    expect(second.movedOn).to.equal(true);
    expect(describeDemo(second)).to.contain('Ports 8000 to 8002 are not all free');
    expect(describeDemo({ ...second, movedOn: false })).not.to.contain('free');
  });

  it('skips a port that another program uses', async () => {
    const taken = await openPort(0, 'a test');
    const next = await openFreePort(taken.port, 'a test');
    await Promise.all([taken.close(), next.close()]);
    expect(next.port).to.be.greaterThan(taken.port);
  });

  it('closes despite keep-alive, unused and busy connections', async () => {
    const request = 'GET / HTTP/1.1\r\nHost: localhost\r\n';
    const demo = await startDemo({ port: 0 });
    const sockets: Socket[] = [];
    for (const url of [demo.relayUrl, demo.frontEndUrl, demo.providerUrl]) {
      for (const bytes of [`${request}\r\n`, request, '']) {
        const socket = connect(Number(new URL(url).port), '127.0.0.1').on('error', () => {});
        sockets.push(socket);
        await once(socket, 'connect');
        socket.write(bytes);
        if (bytes.endsWith('\r\n\r\n')) await once(socket, 'data');
      }
    }
    // Resolves once each server has seen the end of its last connection.
    await demo.close();
    for (const socket of sockets) socket.destroy();
  });

  it('names the port that is taken, and what it was for', async () => {
    const purposes = ['the relay', 'the front end', 'the provider'];
    for (const [offset, purpose] of purposes.entries()) {
      const message = await messageWhereTaken(offset);
      expect(message.text).to.equal(
        `port ${message.port}, for ${purpose} of the demo, is already in use`,
      );
    }
  });

  it('closes the ports that it had opened if a later one is taken', async () => {
    const { port } = await messageWhereTaken(2);
    const relay = await openPort(port - 2, 'a test');
    await relay.close();
  });

  /** Starts a demo whose port at that offset is taken. Returns its error message. */
  async function messageWhereTaken(offset: number): Promise<{ text: string; port: number }> {
    // The ports below a free one may be in use. Then try others.
    for (let attempt = 0; attempt < 50; attempt++) {
      const taken = await openPort(0, 'a test');
      const error: unknown = await startDemo({ port: taken.port - offset }).catch((e) => e);
      await taken.close();
      if (!(error instanceof ListenError)) throw error;
      if (error.message.includes(String(taken.port))) {
        return { text: error.message, port: taken.port };
      }
    }
    throw new Error('found no free ports next to each other');
  }

  for (const port of [-1, 65534, 1.5, Number.NaN]) {
    it(`refuses ${port} as a port`, async () => {
      const error: unknown = await startDemo({ port }).catch((e) => e);
      expect(error).to.be.instanceOf(ConfigError);
    });
  }

  describe('on the command line', () => {
    it('prints its address, and nothing more during a login; Ctrl-C ends it with code 0', async () => {
      const demo = new RelayProcess({ words: ['demo'], flags: { port: '0' } });
      const address = (name: string) =>
        demo.output((stdout) => new RegExp(`^ *${name} +(http://\\S+)\n`, 'm').exec(stdout)?.[1]);
      const relayUrl = await address('relay');
      const frontEndUrl = await address('front end');
      const providerUrl = await address('provider');
      const browser = new FakeBrowser();
      const startUrl = `${relayUrl}/auth/provider`;
      const cancelled = await browser.submit(await browser.visit(startUrl), { action: 'cancel' });
      expect(cancelled.url.href).to.contain(`${startUrl}/callback`);
      expect(cancelled.status).to.equal(400);
      const { url } = await browser.submit(await browser.visit(startUrl), { name: 'Ada' });
      expect(url.href).to.contain(frontEndUrl).and.contain('access_token=');

      const { code, signal, stdout, stderr } = await demo.stop('SIGINT');
      expect({ code, signal, stderr }).to.deep.equal({ code: 0, signal: null, stderr: '' });
      expect(stdout).to.equal(describeDemo({ relayUrl, frontEndUrl, providerUrl, movedOn: false }));
    });

    it('says in one line which port is taken, and exits with 1', async () => {
      const taken = await openPort(0, 'a test');
      const ending = await runRelay({ words: ['demo'], flags: { port: String(taken.port) } });
      await taken.close();
      expect(ending).to.deep.include({
        code: 1,
        stdout: '',
        stderr: `login-relay: port ${taken.port}, for the relay of the demo, is already in use\n`,
      });
    });

    it('refuses a port that is not a number, and exits with 2', async () => {
      const ending = await runRelay({ words: ['demo'], flags: { port: 'eight' } });
      expect(ending.code).to.equal(2);
      expect(ending.stderr)
        .to.contain('--port must be a whole number')
        .and.to.not.contain('    at');
    });
  });
});
