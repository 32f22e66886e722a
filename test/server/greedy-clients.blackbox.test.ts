import { once } from 'node:events';
import { expect } from 'chai';
import { send } from '../harness/client/http-client.ts';
import { RawConnection } from '../harness/client/raw-connection.ts';
import { canary } from '../harness/expect/canaries.ts';
import { userRecord } from '../harness/provider/strict-provider.ts';
import { callbackPath, loginPath, relayUnderTest, userPath } from '../harness/relay/relay-under-test.ts';

const megabyte = 1024 * 1024;
const bodyHeaders = {
  'of ten gigabytes': 'Content-Length: 10000000000',
  'without an end': 'Transfer-Encoding: chunked',
};

describe('a greedy client', () => {
  const underTest = relayUnderTest({ 'max-connections': '20', 'metrics-port': '0' });
  const open = () => RawConnection.open(underTest().port);

  /** Opens a connection, and sends a request with this first line and these headers. */
  const ask = async (line: string, ...headers: string[]) =>
    (await open()).say([`${line} HTTP/1.1`, 'Host: a', ...headers, '\r\n'].join('\r\n'));

  /** Sends chunks until the relay reads no more. Returns the number of bytes that it read. */
  async function pour({ socket, closed }: RawConnection): Promise<number> {
    const chunk = `${megabyte.toString(16)}\r\n${'x'.repeat(megabyte)}\r\n`;
    while (!socket.destroyed) {
      if (!socket.write(chunk)) await Promise.race([once(socket, 'drain').catch(() => {}), closed]);
    }
    return socket.bytesWritten;
  }

  for (const [name, header] of Object.entries(bodyHeaders)) {
    it(`gets an answer to a GET with a body ${name}, and the connection is closed`, async () => {
      const connection = await ask(`GET ${loginPath}`, header);
      expect(await pour(connection)).to.be.lessThan(64 * megabyte);
      expect(connection.heard).to.match(/^HTTP\/1\.1 307 .*\r\nConnection: close\r\n/s);
    });

    it(`cannot make the relay read a body ${name} during a slow lookup`, async () => {
      const { provider } = underTest();
      const { promise: called, resolve } = Promise.withResolvers<() => void>();
      provider.onUser = (response, call) => resolve(() => userRecord(response, call));
      const authorization = `Authorization: Bearer ${canary('token')}`;
      const connection = await ask(`GET ${userPath}`, authorization, header);
      const poured = pour(connection);
      (await called)();
      expect(await poured).to.be.lessThan(64 * megabyte);
      expect(connection.heard).to.match(/^HTTP\/1\.1 200 .*\r\nConnection: close\r\n/s);
    });

    it(`gets 405 to a POST with a body ${name}, and the connection is closed`, async () => {
      const connection = await ask(`POST ${callbackPath}`, header);
      await pour(connection);
      expect(connection.heard).to.match(/^HTTP\/1\.1 405 .*\r\nConnection: close\r\n/s);
    });
  }

  it('gets an answer to a GET with a short body, and the connection is closed', async () => {
    const connection = await ask(`GET ${loginPath}`, 'Content-Length: 4');
    await connection.hear('HTTP/1.1 307 ');
    await connection.say('body').closed;
    expect(connection.heard).to.match(/^HTTP\/1\.1 307 .*\r\nConnection: close\r\n/s);
  });

  it('gets an answer without 100 Continue if it sends Expect', async () => {
    const length = 'Content-Length: 1000';
    const connection = await ask(`POST ${userPath}`, 'Expect: 100-continue', length);
    await connection.closed;
    expect(connection.heard).to.match(/^HTTP\/1\.1 405 /);
  });

  it('does not exclude others by opening too many connections, and the log says so once', async () => {
    const { process, port } = underTest();
    const held = await Promise.all(Array.from({ length: 60 }, open));
    for (let time = 0; time < 5; time += 1) {
      expect((await send(port, { path: loginPath })).status).to.equal(307);
    }
    const line = await process.logLine(({ limit }) => limit === 'connections');
    expect(line).to.include({ level: 'warn', msg: 'limit hit', hits: 1 });
    expect(process.logLines.filter(({ limit }) => limit === 'connections')).to.have.lengthOf(1);
    for (const connection of held) connection.close();
  });

  it('is counted under the limit that it exceeded', async () => {
    await (await open()).say(`GET /${'x'.repeat(20_000)} HTTP/1.1\r\n\r\n`).closed;
    const many = await ask(`GET ${loginPath}`, ...Array(200).fill('a:'));
    await many.hear('HTTP/1.1 431 ');
    many.close();
    const text = await underTest().metrics();
    expect(text).to.match(/login_relay_limits_hit_total\{limit="connections"\} [1-9]/);
    expect(text).to.contain('login_relay_limits_hit_total{limit="header_size"} 2\n');
    expect(text).to.contain('login_relay_limits_hit_total{limit="request_time"} 0\n');
    expect(text).to.contain('login_relay_requests_total{route="none",status="431"} 2\n');
  });
});
