import type { ServerResponse } from 'node:http';
import { expect } from 'chai';
import { send } from '../../harness/client/http-client.ts';
import { type Serving, serve } from '../../harness/provider/serve.ts';
import { needsPrograms } from '../../harness/system/needs.ts';
import { Balancer } from './support/balancer.ts';
import { kinds } from './support/kinds.ts';

/** Requests of one client address that may be in flight. */
const most = 64;

// Caddy has no such limit.
for (const name of ['haproxy', 'nginx'] as const) {
  const kind = kinds[name];
  if (kind === undefined) throw new Error(`no ${name}`);
  const { describe } = needsPrograms(kind.program);

  describe(`${name}, configured as in deploy, in front of a relay that is busy`, () => {
    let relay: Serving;
    let balancer: Balancer;
    const held: ServerResponse[] = [];
    let onHeld = () => {};

    before(async () => {
      relay = await serve(({ url }, response) => {
        if (url === '/readyz') {
          response.end('{}');
          return;
        }
        held.push(response);
        onHeld();
      });
      balancer = await Balancer.start(kind, [relay.port]);
    });
    after(async () => {
      await balancer.stop();
      await relay.close();
    });

    it('passes on 64 requests of one client at once, and refuses further requests until one of these is answered', async () => {
      const { promise: areHeld, resolve } = Promise.withResolvers<void>();
      onHeld = () => {
        if (held.length === most) resolve();
      };
      const answers = Array.from({ length: most }, () => send(balancer.port, { path: '/auth/provider' }));
      await areHeld;
      const refused = await send(balancer.port, { path: '/auth/provider' });
      expect(refused.status).to.equal(429);
      expect(refused.headers).to.include({ 'cache-control': 'no-store', 'retry-after': '1' });
      expect(JSON.parse(`${refused.body}`)).to.have.all.keys('detail');
      expect(held).to.have.lengthOf(most);
      for (const response of held) response.end('a');
      const statuses = (await Promise.all(answers)).map(({ status }) => status);
      expect(new Set(statuses)).to.deep.equal(new Set([200]));
      onHeld = () => held.at(-1)?.end('b');
      expect(`${(await send(balancer.port, { path: '/auth/provider' })).body}`).to.equal('b');
    });
  });
}
