import { setTimeout as delay } from 'node:timers/promises';
import { expect } from 'chai';
import type { ListeningServer } from '../../../src/server/server.ts';
import { RawConnection } from '../../harness/client/raw-connection.ts';
import { needsPrograms } from '../../harness/system/needs.ts';
import {
  closing,
  frame,
  listenFor,
  opening,
  switching,
  webSocketRelay,
} from '../../resources/support/websocket-relay.ts';
import { Balancer } from './support/balancer.ts';
import { streamingKinds } from './support/kinds.ts';

/** Longer than the limits for logins in these configurations. */
const silence = 5_000;

for (const [name, kind] of Object.entries(streamingKinds)) {
  needsPrograms(kind.program).describe(`${name}, configured as in deploy, in front of the gateway`, () => {
    const sockets = webSocketRelay();
    const { relay } = sockets;
    let server: ListeningServer;
    let balancer: Balancer;
    const connections: RawConnection[] = [];

    before('start it', async () => {
      server = await listenFor(relay());
      balancer = await Balancer.start(kind, [Number(new URL(server.address).port)]);
    });
    afterEach(() => {
      for (const one of connections.splice(0)) one.close();
    });
    after('stop it', async () => {
      await balancer.stop();
      await server.close();
    });

    async function connect(): Promise<RawConnection> {
      const connection = await RawConnection.open(balancer.port);
      connections.push(connection);
      return connection;
    }

    it('passes a WebSocket, even after a silence, and the close frame of the relay', async () => {
      const { access_token: token } = await relay().tokens();
      const client = await connect();
      client.say(opening(token));
      const behind = await sockets.behind();
      await behind.hear('\r\n\r\n');
      expect(behind.heard()).to.include('\r\nx-forwarded-user: 42\r\n');
      behind.socket.write(switching());
      await client.hear('\r\n\r\n');
      expect(client.heard).to.match(/^HTTP\/1\.1 101 /);
      for (const text of ['one', 'two']) {
        behind.socket.write(frame(text));
        await client.hear(text);
        client.say(`${text} back`);
        await behind.hear(`${text} back`);
        if (text === 'one') await delay(silence);
      }
      await relay().reload(relay().settings({ notes: '' }));
      await client.hear(closing(1008, 'reload'));
      await Promise.all([client.closed, behind.closed]);
    });

    it('passes a refusal, and no byte of what follows to the server', async () => {
      const { access_token: token } = await relay().tokens();
      const client = await connect();
      client.say(`${opening('junk')}a frame`);
      await client.hear('\r\n\r\n');
      expect(client.heard).to.match(/^HTTP\/1\.1 401 /);
      const refused = await connect();
      refused.say(`${opening(token)}a frame`);
      const behind = await sockets.behind();
      await behind.hear('\r\n\r\n');
      behind.socket.end('HTTP/1.1 403 Forbidden\r\nContent-Length: 2\r\n\r\nno');
      await refused.hear('no');
      expect(refused.heard).to.match(/^HTTP\/1\.1 403 /);
      expect(behind.heard()).not.to.include('a frame');
    });

    it('upgrades to no other protocol', async () => {
      const { access_token: token } = await relay().tokens();
      // Some proxies pass the last one on, and the relay refuses it: then, the server is not asked.
      for (const upgrade of ['h2c', 'foo', 'websocket, h2c']) {
        const client = await connect();
        client.say(opening(token, { Upgrade: upgrade, 'HTTP2-Settings': 'AAMAAABk' }));
        void sockets.behind().then(async (behind) => {
          await behind.hear('\r\n\r\n');
          const isPlain = !/\r\n(upgrade|http2-settings):/i.test(behind.heard());
          behind.socket.end(`HTTP/1.1 ${isPlain ? 200 : 500} OK\r\nConnection: close\r\nContent-Length: 2\r\n\r\nok`);
        });
        await client.hear('\r\n\r\n');
        expect(client.heard, upgrade).to.match(/^HTTP\/1\.1 (200|426) /);
      }
    });
  });
}
