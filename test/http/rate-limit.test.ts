import { IncomingMessage } from 'node:http';
import { Socket } from 'node:net';
import { expect } from 'chai';
import Koa from 'koa';
import { RelayError } from '../../src/errors.ts';
import { rateLimit } from '../../src/http/rate-limit.ts';

describe('the counters of the rate limit', () => {
  it('are at most 65,536, for any number of clients', async () => {
    let client = 0;
    const limit = rateLimit(1, () => `client ${client}`, { now: Date.now });
    const request = new IncomingMessage(new Socket());
    const context = new Koa().createContext(request, Object.create(null));
    let refused = 0;
    for (; client < 70_000; client += 1) {
      await limit(context, async () => {}).catch((error: unknown) => {
        if (!(error instanceof RelayError)) throw error;
        refused += 1;
      });
    }
    expect(refused).to.be.at.least(70_000 - 65_536);
  });
});
