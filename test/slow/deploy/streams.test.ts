import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import { expect } from 'chai';
import { send } from '../../harness/client/http-client.ts';
import { RawConnection } from '../../harness/client/raw-connection.ts';
import { type Serving, serve } from '../../harness/provider/serve.ts';
import { needsPrograms } from '../../harness/system/needs.ts';
import { Balancer } from './support/balancer.ts';
import { streamingKinds } from './support/kinds.ts';

/** Longer than the limits for logins in these configurations. */
const silence = 5_000;

for (const [name, kind] of Object.entries(streamingKinds)) {
  const { describe } = needsPrograms(kind.program);

  describe(`${name}, configured as in deploy, in front of a relay with an MCP server behind it`, () => {
    let relay: Serving;
    let balancer: Balancer;
    let asked: PromiseWithResolvers<ServerResponse>;

    before('start them', async () => {
      relay = await serve(({ url }, response) => {
        if (url === '/readyz') response.end('{}');
        else asked.resolve(response);
      });
      balancer = await Balancer.start(kind, [relay.port]);
    });
    beforeEach(() => {
      asked = Promise.withResolvers();
    });
    after('stop them', async () => {
      await balancer.stop();
      await relay.close();
    });

    it('passes each event at once, even after a silence, and tells the relay when the client disconnects', async () => {
      const connection = await RawConnection.open(balancer.port);
      connection.say('GET /mcp HTTP/1.1\r\nHost: login.example.com\r\n\r\n');
      const response = await asked.promise;
      response.writeHead(200, { 'Content-Type': 'text/event-stream' }).flushHeaders();
      await connection.hear('text/event-stream');
      for (const event of ['data: 1\n\n', 'data: 2\n\n', 'data: 3\n\n']) {
        if (event.includes('3')) await delay(silence);
        response.write(event);
        await connection.hear(event);
      }
      const gone = once(response, 'close');
      connection.close();
      await gone;
    });

    it('waits for the answer of a tool that takes long, and passes 2 MiB', async () => {
      const body = 'a'.repeat(2 * 1024 * 1024);
      const answer = send(balancer.port, { method: 'POST', path: '/mcp', body });
      const response = await asked.promise;
      let received = 0;
      for await (const { length } of response.req) received += length;
      await delay(silence);
      response.end('done');
      expect([(await answer).status, received]).to.deep.equal([200, body.length]);
    });
  });
}
