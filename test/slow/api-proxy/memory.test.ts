// Bodies of 50 MiB in both directions, with fast and slow readers, while the memory of the relay is watched.

import { once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { setTimeout as wait } from 'node:timers/promises';
import { expect } from 'chai';
import { useRelayedApi } from '../../api-proxy/support/relayed-api.ts';
import { memoryOf } from '../../harness/system/processes.ts';

const mebibyte = 1024 * 1024;
const size = 50 * mebibyte;
/** More than the sockets on the way hold: Linux lets the buffers of each one grow to more than 30 MiB. */
const sizeForSlowPage = 200 * mebibyte;
/**
 * The most that memory may grow, in MiB: less than one body. Streams have buffers, and the collector leaves more
 * behind on a busy machine.
 */
const mostGrowth = 40;

/** A body that is made while it is read. It counts what was read. */
function made(bytes = size, onRead: (bytes: number) => void = () => {}): Readable {
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

describe('bodies of 50 MiB between a page and the API', () => {
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

  async function download(): Promise<IncomingMessage> {
    const request = api.open('a', 'GET');
    request.end();
    const [answer] = await once(request, 'response');
    return answer;
  }

  const upload = async () => {
    api.answer = async (request, answer) => answer.end(`${await counted(request)}`);
    const request = api.open('a', 'PUT', { 'Content-Length': `${size}` });
    made().pipe(request);
    const [answer] = await once(request, 'response');
    expect(await text(answer)).to.equal(`${size}`);
  };
  const wholeDownload = async () => {
    api.answer = (_, answer) => made().pipe(answer);
    expect(await counted(await download())).to.equal(size);
  };

  before('warm up', async () => {
    await upload();
    await wholeDownload();
  });

  it('are streamed to the API, and the memory of the relay stays flat', async () => {
    expect(await growth(upload)).to.be.below(mostGrowth);
  });

  it('are streamed to the page, and the memory of the relay stays flat', async () => {
    expect(await growth(wholeDownload)).to.be.below(mostGrowth);
  });

  it('wait for a slow page', async () => {
    let read = 0;
    api.answer = (_, answer: ServerResponse) => {
      made(sizeForSlowPage, (bytes) => {
        read = bytes;
      }).pipe(answer);
    };
    const grown = await growth(async () => {
      const answer = await download();
      answer.pause();
      await wait(2_000);
      expect(read).to.be.below(sizeForSlowPage / 2);
      expect(await counted(answer)).to.equal(sizeForSlowPage);
    });
    expect(grown).to.be.below(mostGrowth);
  });

  it('wait for a slow API', async () => {
    api.answer = async (request, answer) => {
      request.pause();
      await wait(2_000);
      answer.end(`${await counted(request)}`);
    };
    const grown = await growth(async () => {
      const request = api.open('a', 'PUT', { 'Transfer-Encoding': 'chunked' });
      made().pipe(request);
      const [answer] = await once(request, 'response');
      expect(await text(answer)).to.equal(`${size}`);
    });
    expect(grown).to.be.below(mostGrowth);
  });
});
