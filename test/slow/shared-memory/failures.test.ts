import { connect } from 'node:net';
import { expect } from 'chai';
import { newProofKey } from '../../harness/client/proof.ts';
import { OAuthPage, tokensOf } from '../../harness/login/oauth-page.ts';
import { expectSessionFailure, sessionOf } from '../../harness/login/session-page.ts';
import { serveTcp } from '../../harness/provider/serve.ts';
import { MemoryServer, memoryProgram } from '../../harness/system/memory-server.ts';
import { needsPrograms } from '../../harness/system/needs.ts';
import { alone, contend, insist, logged, withServer } from './support/contention.ts';
import { Relays, withSessions } from './support/relays.ts';

const { describe } = needsPrograms(memoryProgram);

/** A network between relays and the server at this port. While it swallows, nothing arrives, and no connection breaks. */
async function startNetwork(target: number) {
  const mood = { swallows: false };
  const serving = await serveTcp((near) => {
    const far = connect(target, '127.0.0.1').on('error', () => {});
    for (const [from, to] of [
      [near, far],
      [far, near],
    ] as const) {
      from.on('close', () => mood.swallows || to.destroy());
      from.on('data', (bytes) => mood.swallows || to.write(bytes));
    }
  });
  return { mood, ...serving };
}

describe('relays whose shared memory', () => {
  it('was restarted empty repeat the results of the last minute', () =>
    withServer(async (relays, server) => {
      await relays.share();
      const { page, refreshToken } = await relays.loggedInPage();
      const { accessToken } = tokensOf(await page.refresh(refreshToken));
      await server.kill();
      await server.start();
      await logged(relays, 'shared memory is back');
      for (const _ of relays.each) {
        expect(tokensOf(await page.refresh(refreshToken)).accessToken).to.equal(accessToken);
      }
    }));

  it('is full refresh separately', () =>
    withServer(
      async (relays) => {
        const [line] = await logged(relays, 'shared memory is away');
        expect(line).to.have.property('reason', 'OOM');
        await alone(relays);
      },
      { words: ['--maxmemory', '1'] },
    ));

  it('holds garbage answer as without it', () =>
    withServer(async (relays, server) => {
      await relays.share();
      const { page, refreshToken } = await relays.loggedInPage();
      const renewed = tokensOf(await page.refresh(refreshToken));
      for (const garbage of ['', 'garbage', '{}', '\u0000', 'lr1_AAAA', 'x'.repeat(100_000)]) {
        const content = await server.content();
        await server.run(...content.map(({ key }) => ['SET', key, garbage, 'PX', '60000']));
        const { status, body } = await page.refresh(renewed.refreshToken);
        expect(status).to.be.oneOf([200, 400]);
        if (garbage !== '') expect(`${body}`).to.not.include(garbage);
      }
      const content = await server.content();
      for (const { key } of content) await server.run(['DEL', key], ['RPUSH', key, 'a list']);
      await alone(relays);
    }));

  it('is behind a network that swallows everything go on, and agree again when it is mended', async () => {
    const server = await MemoryServer.start();
    const network = await startNetwork(server.port);
    const address = `redis://127.0.0.1:${network.port}`;
    const relays = await Relays.start(3, { 'shared-memory': address });
    try {
      await relays.share();
      network.mood.swallows = true;
      await alone(relays);
      const [line] = await logged(relays, 'shared memory is away');
      expect(line?.['reason']).to.be.oneOf(['timeout', 'lost']);
      await alone(relays);
      network.mood.swallows = false;
      await logged(relays, 'shared memory is back');
      expect(await contend(relays)).to.equal(1);
    } finally {
      await relays.stop();
      await network.close();
      await server.stop();
    }
  });

  it('does not run when they start are ready after two seconds, and agree when it runs', () =>
    withServer(
      async (relays, server) => {
        expect((await relays.at(0).get('/readyz')).status).to.equal(200);
        const [line] = await logged(relays, 'shared memory is away');
        expect(line).to.have.property('reason', 'ECONNREFUSED');
        await alone(relays);
        await server.start();
        await logged(relays, 'shared memory is back');
        expect(await contend(relays)).to.equal(1);
      },
      { isAway: true },
    ));

  it('know no logout of another relay while the server does not answer, unless sessions must be checked', async () => {
    for (const check of ['open', 'strict'] as const) {
      await withServer(
        async (relays, server) => {
          await relays.share();
          const page = await relays.sessionPage();
          await server.kill();
          await logged(relays, 'shared memory is away');
          const answer = await page.describe();
          if (check === 'open') sessionOf(answer);
          else expectSessionFailure(answer, 'memory_away');
          expect(answer.headers['set-cookie']).to.equal(undefined);
          const { cookie } = page;
          relays.provider.calls.length = 0;
          expect((await page.logOut()).status).to.equal(200);
          expect(relays.provider.credentials('revocation')).to.have.lengthOf(2);
          await server.start();
          await logged(relays, 'shared memory is back');
          // The relay that knows tells it to the others.
          for (const _ of relays.each) {
            expectSessionFailure(await page.describe({ cookie }), 'session_missing');
          }
        },
        { flags: { ...withSessions, 'session-check': check } },
      );
    }
  });

  it('dies with the relay that leads a refresh let other relays take over when its lock has ended', () =>
    withServer(async (relays, server) => {
      await relays.share();
      const leader = relays.at(0);
      const key = await newProofKey();
      const atLeader = new OAuthPage(leader, relays.provider, key);
      const { refreshToken } = await atLeader.logIn();
      const answer = relays.provider.onRefresh;
      const { promise: isAsked, resolve } = Promise.withResolvers<void>();
      relays.provider.onRefresh = () => resolve();
      const lost = atLeader.refresh(refreshToken).catch(() => {});
      await isAsked;
      await relays.kill(leader);
      await lost;
      relays.provider.onRefresh = answer;
      // The mark of a used proof or code is random, and may begin like a lock.
      const content = await server.content();
      const locks = content.filter(({ key: name, value }) => name.includes(':r:') && value.startsWith('L'));
      expect(locks).to.have.lengthOf(1);
      await server.run(...locks.map(({ key: lock }) => ['PEXPIRE', lock, '1']));
      const page = new OAuthPage(relays, relays.provider, key);
      tokensOf(await insist(page, refreshToken));
    }));
});
