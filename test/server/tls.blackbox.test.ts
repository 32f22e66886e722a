import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { request } from 'node:https';
import { type ConnectionOptions, connect, type TLSSocket } from 'node:tls';
import { expect } from 'chai';
import { RawConnection } from '../harness/client/raw-connection.ts';
import { runRelay } from '../harness/relay/relay-process.ts';
import { loginPath, type RelayUnderTest, startRelay } from '../harness/relay/relay-under-test.ts';
import { type CertificateFiles, certificateFiles } from '../harness/system/certificate.ts';
import { strongSuites, weakSuites } from '../harness/system/cipher-suites.ts';

const host = 'relay.example';

describe('a relay that terminates TLS itself', () => {
  let files: CertificateFiles;
  let underTest: RelayUnderTest;
  let authority: string;
  before(async () => {
    files = await certificateFiles(host);
    authority = files.authority;
    const { cert, key } = files;
    underTest = await startRelay({ 'tls-cert': cert, 'tls-key': key, 'max-connections': '20' });
  });
  after(async () => {
    await underTest.stop();
    await files.remove();
  });

  const trust = () => {
    return { host: '127.0.0.1', port: underTest.port, servername: host, ca: authority };
  };

  async function get(path: string): Promise<{ status: number | undefined; cookies: string[] }> {
    const sent = request({ ...trust(), path, agent: false }).end();
    const [response] = await once(sent, 'response');
    response.resume();
    return { status: response.statusCode, cookies: response.headers['set-cookie'] ?? [] };
  }

  async function shakeHands(options: ConnectionOptions = {}): Promise<TLSSocket> {
    const socket = connect({ ...trust(), ...options });
    // The relay may close it to make room for another.
    socket.on('error', () => {});
    await once(socket, 'secureConnect');
    return socket;
  }

  async function codeOf(attempt: Promise<unknown>): Promise<unknown> {
    return await attempt.then(
      () => 'connected',
      ({ code }) => code,
    );
  }

  it('logs that it listens on https, and answers there', async () => {
    const { address } = await underTest.process.logLine(({ msg }) => msg === 'listening');
    expect(address).to.match(/^https:\/\/127\.0\.0\.1:\d+$/);
    const { status, cookies } = await get(loginPath);
    expect(status).to.equal(307);
    expect(cookies.join()).to.match(/^__Host-Http-lr_login_.*; Secure/);
  });

  it('accepts TLS 1.2 and 1.3, but nothing older and no plain http', async () => {
    for (const version of ['TLSv1.2', 'TLSv1.3'] as const) {
      const socket = await shakeHands({ minVersion: version, maxVersion: version });
      expect(socket.getProtocol()).to.equal(version);
      socket.destroy();
    }
    // OpenSSL offers these versions only with a lower security level.
    const ciphers = 'ALL:@SECLEVEL=0';
    const ancient = { minVersion: 'TLSv1', maxVersion: 'TLSv1.1', ciphers } as const;
    expect(await codeOf(shakeHands(ancient))).to.equal('ERR_SSL_TLSV1_ALERT_PROTOCOL_VERSION');
    const plain = await RawConnection.open(underTest.port);
    await plain.say(`GET ${loginPath} HTTP/1.1\r\nHost: a\r\n\r\n`).closed;
    expect(plain.heard)
      .to.match(/^HTTP\/1\.1 400 .*Send https here/s)
      .and.not.contain('Location');
  });

  it('accepts only TLS 1.2 cipher suites with forward secrecy and authenticated encryption', async () => {
    for (const suite of weakSuites) {
      const offer = { maxVersion: 'TLSv1.2', ciphers: `${suite}:@SECLEVEL=0` } as const;
      expect(await codeOf(shakeHands(offer)), suite).to.match(/HANDSHAKE_FAILURE/);
    }
    for (const suite of strongSuites) {
      const socket = await shakeHands({ maxVersion: 'TLSv1.2', ciphers: suite });
      expect(socket.getCipher().name).to.equal(suite);
      socket.destroy();
    }
  });

  it('speaks HTTP/1.1 to clients that offer it, or offer nothing', async () => {
    const offered = await shakeHands({ ALPNProtocols: ['h2', 'http/1.1'] });
    expect(offered.alpnProtocol).to.equal('http/1.1');
    const silent = await shakeHands();
    expect(silent.alpnProtocol).to.equal(false);
    const refused = codeOf(shakeHands({ ALPNProtocols: ['h2'] }));
    expect(await refused).to.equal('ERR_SSL_TLSV1_ALERT_NO_APPLICATION_PROTOCOL');
    offered.destroy();
    silent.destroy();
  });

  it('serves requests while many connections stop before or after the handshake', async () => {
    const mute = await Promise.all(Array.from({ length: 40 }, () => RawConnection.open(underTest.port)));
    // Some are closed to make room for others before their handshake is over.
    const attempts = await Promise.allSettled(Array.from({ length: 40 }, () => shakeHands()));
    const idle = attempts.flatMap((attempt) => ('value' in attempt ? [attempt.value] : []));
    expect(idle).to.not.be.empty;
    for (let time = 0; time < 5; time += 1) expect((await get(loginPath)).status).to.equal(307);
    await Promise.all(mute.map(({ closed }) => closed));
    for (const socket of idle) socket.destroy();
  });

  it('answers login-relay health', async () => {
    const { code, stdout } = await runRelay({
      words: ['health', '--port', String(underTest.port), '--tls-cert', files.cert],
    });
    expect([code, stdout]).to.deep.equal([0, `ready at https://127.0.0.1:${underTest.port}\n`]);
  });

  it('uses a new certificate after its files have changed', async () => {
    const kept = await shakeHands();
    const renewed = await files.renew();
    await underTest.process.logLine(({ msg }) => String(msg).startsWith('reloaded'));
    expect(await codeOf(get(loginPath)))
      .to.be.a('string')
      .and.not.equal('connected');
    authority = renewed;
    expect((await get(loginPath)).status).to.equal(307);
    // An open connection keeps the old certificate.
    kept.write(`GET /healthz HTTP/1.1\r\nHost: a\r\n\r\n`);
    const [answer] = await once(kept, 'data');
    expect(String(answer)).to.match(/^HTTP\/1\.1 200 /);
    kept.destroy();
  });

  it('keeps its certificate if the new certificate cannot be used, and logs why', async () => {
    await writeFile(files.key, 'nonsense');
    process.kill(underTest.process.pid, 'SIGHUP');
    const { faults } = await underTest.process.logLine(({ msg }) => String(msg).startsWith('not reloaded'));
    expect(faults).to.deep.equal(['--tls-key (TLS_KEY) names a file without a private key (PEM)']);
    expect((await get(loginPath)).status).to.equal(307);
  });
});
