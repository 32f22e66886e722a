// Hundreds of MiB in both directions, with fast and slow readers.

import { once } from 'node:events';
import { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { setTimeout as wait } from 'node:timers/promises';
import { expect } from 'chai';
import { useRelayedApi } from '../../api-proxy/support/relayed-api.ts';
import { memoryOf } from '../../harness/system/processes.ts';

const mebibyte = 1024 * 1024;
/** The most that a page may upload, in round figures. */
const upload = 50 * mebibyte;
const uploads = 6;
/** Nearly the most of an answer. The sockets on the way hold less than half: Linux lets each of them grow to 32 MiB. */
const download = 240 * mebibyte;
/**
 * The most that memory may grow, in MiB: much less than all uploads. The collector leaves some 100 MiB of them behind, and
 * more on a busy machine.
 */
const mostGrowth = 200;

/** A body that is made while it is read. It counts what was read. */
function made(bytes: number, onRead: (bytes: number) => void = () => {}): Readable {
  const chunk = Buffer.alloc(64 * 1024, 'x');
  let left = bytes;
  return new Readable({
    read() {
      if (left === 0) return void this.push(null);
      left -= chunk.length;
      onRead(bytes - left);
      this.push(chunk);
    },
  });
}

/** Reads to the end. @returns the number of bytes */
async function counted(stream: Readable): Promise<number> {
  let bytes = 0;
  for await (const chunk of stream) bytes += chunk.length;
  return bytes;
}

describe('long bodies between a page and the API', () => {
  const api = useRelayedApi();

  /** The growth of the relay's resident memory during a task, at its highest, in MiB. */
  async function growth(task: () => Promise<void>): Promise<number> {
    const resident = () => memoryOf(api.relay.process.pid);
    const before = resident();
    let highest = before;
    const timer = setInterval(() => {
      highest = Math.max(highest, resident());
    }, 20);
    await task().finally(() => clearInterval(timer));
    return highest - before;
  }

  /** Sends a body to the API. @returns what the API answers */
  async function send(headers: Record<string, string>): Promise<string> {
    const request = api.open('a', 'PUT', headers);
    made(upload).pipe(request);
    const [answer] = await once(request, 'response');
    return await text(answer);
  }

  it('are streamed to the API, and the memory of the relay stays flat', async () => {
    api.answer = async (request, answer) => answer.end(`${await counted(request)}`);
    const grown = await growth(async () => {
      const sent = Array.from({ length: uploads }, () => send({ 'Content-Length': `${upload}` }));
      expect(new Set(await Promise.all(sent))).to.deep.equal(new Set([`${upload}`]));
    });
    expect(grown).to.be.below(mostGrowth);
  });

  it('wait for a slow page', async () => {
    let read = 0;
    api.answer = (_, answer) => {
      made(download, (bytes) => {
        read = bytes;
      }).pipe(answer);
    };
    const request = api.open('a', 'GET');
    request.end();
    const [answer] = await once(request, 'response');
    answer.pause();
    await wait(2_000);
    // A relay that does not wait for the page reads all of it.
    expect(read).to.be.below(download / 2);
    expect(await counted(answer)).to.equal(download);
  });

  it('wait for a slow API', async () => {
    api.answer = async (request, answer) => {
      request.pause();
      await wait(2_000);
      answer.end(`${await counted(request)}`);
    };
    expect(await send({ 'Transfer-Encoding': 'chunked' })).to.equal(`${upload}`);
  });
});
