import { once } from 'node:events';
import { connect as connectSocket } from 'node:net';
import { connect } from 'node:tls';
import { expect } from 'chai';
import { startRelay } from '../harness/relay/relay-under-test.ts';
import { certificateFiles } from '../harness/system/certificate.ts';
import { everyOption } from '../harness/system/variant.ts';

const warning = 'a connection speaks another protocol than this port';
// The first bytes of the second version of the PROXY protocol, and an address.
const secondVersion = `\r\n\r\n\0\r\nQUIT\n\x21\x11\0\x0c${'\x7f\0\0\x01'.repeat(2)}\x30\x39\0\x50`;

const spoken: Readonly<Record<string, readonly [bytes: string, named: RegExp]>> = {
  proxy_protocol_unexpected: ['PROXY TCP4 192.0.2.7 192.0.2.8 12345 80\r\nGET / HTTP/1.1\r\n', /PROXY protocol/],
  'proxy_protocol_unexpected, version 2': [`${secondVersion}GET / HTTP/1.1\r\n`, /PROXY protocol/],
  http2_unexpected: ['PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\x04\0\0\0\0\0', /HTTP\/2/],
  bad_request: ['\x16\x99 HELLO\r\n\r\n', /not valid HTTP/],
};

/** The answer of a port to these bytes. */
async function answerTo(port: number, bytes: string): Promise<string> {
  const socket = connectSocket(port, '127.0.0.1');
  socket.on('error', () => {});
  let heard = '';
  socket.setEncoding('latin1').on('data', (text: string) => {
    heard += text;
  });
  socket.write(bytes, 'latin1');
  await once(socket, 'close');
  return heard;
}

(everyOption ? describe.skip : describe)('a connection of another protocol', () => {
  for (const [name, [bytes, named]] of Object.entries(spoken)) {
    it(`is named in answer and log: ${name}`, async () => {
      const underTest = await startRelay();
      const heard = await answerTo(underTest.port, bytes);
      expect(heard)
        .to.match(/^HTTP\/1\.1 400 .*\r\n\r\n\{"detail":".*"\}$/s)
        .and.match(named);
      const [outcome] = name.split(',');
      await underTest.process.logLine((line) => line['outcome'] === outcome && line['msg'] === 'request');
      if (outcome !== 'bad_request') {
        const line = await underTest.process.logLine(({ msg }) => msg === warning);
        expect(line).to.include({ level: 'warn', outcome, peer: '127.0.0.1' });
        expect(line['detail']).to.match(named);
      }
      await underTest.stop();
    });
  }

  it('is named in the log if it is TLS at a plain port', async () => {
    const underTest = await startRelay();
    const socket = connect({ port: underTest.port, host: '127.0.0.1' });
    const [error] = await once(socket, 'error');
    expect(error.code).to.equal('ERR_SSL_WRONG_VERSION_NUMBER');
    const line = await underTest.process.logLine(({ msg }) => msg === warning);
    expect(line).to.include({ outcome: 'tls_unexpected', peer: '127.0.0.1' });
    await underTest.stop();
  });

  it('is named if it is http at a port of TLS', async () => {
    const { cert, key, remove } = await certificateFiles('relay.example');
    const underTest = await startRelay({ 'tls-cert': cert, 'tls-key': key });
    const heard = await answerTo(underTest.port, 'GET / HTTP/1.1\r\nHost: a\r\n\r\n');
    expect(heard).to.match(/^HTTP\/1\.1 400 .*https here/s);
    const line = await underTest.process.logLine(({ msg }) => msg === warning);
    expect(line).to.include({ outcome: 'tls_missing', peer: '127.0.0.1' });
    await underTest.stop();
    await remove();
  });
});
