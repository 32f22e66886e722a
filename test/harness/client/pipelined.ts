import { expect } from 'chai';
import { type RawAnswer, readAnswers } from '../../../fuzz/hostile/answer.ts';
import { limits } from '../../../src/limits.ts';
import { RawConnection } from './raw-connection.ts';

const atOnce = limits.requestsOfConnection;

/**
 * Sends many requests on a connection, and reads an answer for each. A character is a byte. If a request ends its
 * connection, the requests after it are sent again on another connection.
 */
export async function pipelined(port: number, requests: readonly string[]): Promise<RawAnswer[]> {
  const answers: RawAnswer[] = [];
  while (answers.length < requests.length) {
    const some = requests.slice(answers.length, answers.length + atOnce);
    const connection = await RawConnection.open(port);
    connection.socket.write(Buffer.from(some.join(''), 'latin1'));
    const read = await new Promise<RawAnswer[]>((resolve) => {
      const whole = () => readAnswers(connection.heard).answers;
      connection.socket.on('data', () => {
        const begun = connection.heard.split('HTTP/1.1 ').length - 1;
        if (begun >= some.length && whole().length >= some.length) resolve(whole());
      });
      connection.closed.then(() => resolve(whole()));
    });
    connection.close();
    if (read.length === 0) throw new Error(`no answer to ${JSON.stringify(some[0])}`);
    answers.push(...read.slice(0, some.length));
  }
  return answers;
}

/** The value of a header, which may come once. */
export function headerOf({ headers }: RawAnswer, name: string): string | undefined {
  const values = headers.filter(([one]) => one === name);
  expect(values.length).to.be.at.most(1);
  return values[0]?.[1];
}
