import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { expect } from 'chai';
import { readAnswers } from '../../fuzz/hostile/answer.ts';
import { canary } from '../support/canaries.ts';
import { loginPath, relayUnderTest, userPath } from '../support/relay-under-test.ts';

const start = `GET ${loginPath} HTTP/1.1\r\nHost: a\r\n\r\n`;
const lookup = `GET ${userPath} HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${canary('token')}\r\n\r\n`;

describe('requests that follow each other on one connection without waiting', () => {
  const underTest = relayUnderTest();

  function open(bytes: string): Socket {
    const socket = connect(underTest().port, '127.0.0.1');
    socket.on('error', () => {});
    socket.write(bytes);
    return socket;
  }

  async function statusesOf(bytes: string): Promise<number[]> {
    const socket = open(bytes).setEncoding('latin1');
    let received = '';
    socket.on('data', (text) => {
      received += text;
    });
    await once(socket, 'close');
    return readAnswers(received).answers.map(({ status }) => status);
  }

  it('are answered in their order', async () => {
    const last = start.replace('\r\n\r\n', '\r\nConnection: close\r\n\r\n');
    expect(await statusesOf(lookup + start + lookup + last)).to.deep.equal([200, 307, 200, 307]);
  });

  it('are answered before one that cannot be read, and nothing after it is', async () => {
    expect(await statusesOf(`${lookup}${start}HELLO\r\n\r\n${start}`)).to.deep.equal([
      200, 307, 400,
    ]);
  });
});
