import { expect } from 'chai';
import { readAnswers } from '../../fuzz/hostile/answer.ts';
import { RawConnection } from '../harness/client/raw-connection.ts';
import { canary } from '../harness/expect/canaries.ts';
import { loginPath, relayUnderTest, userPath } from '../harness/relay/relay-under-test.ts';

const start = `GET ${loginPath} HTTP/1.1\r\nHost: a\r\n\r\n`;
const lookup = `GET ${userPath} HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${canary('token')}\r\n\r\n`;

describe('pipelined requests', () => {
  const underTest = relayUnderTest();

  async function statusesOf(bytes: string): Promise<number[]> {
    const connection = (await RawConnection.open(underTest().port)).say(bytes);
    await connection.closed;
    return readAnswers(connection.heard).answers.map(({ status }) => status);
  }

  it('are answered before a malformed request, and no request after it is answered', async () => {
    expect(await statusesOf(`${lookup}${start}HELLO\r\n\r\n${start}`)).to.deep.equal([200, 307, 400]);
  });

  it('are answered before a CONNECT request, which also gets an answer', async () => {
    const connect = 'CONNECT elsewhere.example:443 HTTP/1.1\r\nHost: a\r\n\r\n';
    expect(await statusesOf(`${lookup}${start}${connect}${start}`)).to.deep.equal([200, 307, 404]);
    expect(await statusesOf(connect)).to.deep.equal([404]);
    const line = await underTest().process.logLine(({ status }) => status === 404);
    expect(line).to.include({ outcome: 'not_found', method: null, route: null });
  });

  it('do not affect other clients if a CONNECT client resets the connection', async () => {
    const connect = `CONNECT elsewhere.example:443 HTTP/1.1\r\nHost: a\r\n\r\n${'x'.repeat(65_536)}`;
    for (let time = 0; time < 10; time += 1) {
      const connection = (await RawConnection.open(underTest().port)).say(lookup + connect);
      await connection.hear('HTTP/1.1 ');
      connection.socket.resetAndDestroy();
    }
    const last = start.replace('\r\n\r\n', '\r\nConnection: close\r\n\r\n');
    expect(await statusesOf(last)).to.deep.equal([307]);
  });
});
