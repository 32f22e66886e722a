import { expect } from 'chai';
import type { Answer } from '../../harness/client/http-client.ts';
import { newProofKey } from '../../harness/client/proof.ts';
import { OAuthPage, tokensOf } from '../../harness/login/oauth-page.ts';
import { expectSessionFailure, sessionOf } from '../../harness/login/session-page.ts';
import type { Flags } from '../../harness/relay/relay-process.ts';
import { eventually } from '../../harness/system/eventually.ts';
import { MemoryServer, memoryProgram } from '../../harness/system/memory-server.ts';
import { needsPrograms } from '../../harness/system/needs.ts';
import { Relays, slowly, withSessions } from './support/relays.ts';
import { TcpProxy } from './support/tcp-proxy.ts';

const { describe } = needsPrograms(memoryProgram);
const sixTabs = Array.from({ length: 6 });

/** Runs three relays with a server of their own. */
async function withServer(
  task: (relays: Relays, server: MemoryServer) => Promise<void>,
  { words = [], flags = {} }: { words?: string[]; flags?: Flags } = {},
): Promise<void> {
  const server = await MemoryServer.start(...words);
  try {
    const relays = await Relays.start(3, { 'shared-memory': server.address, ...flags });
    slowly(relays.provider);
    try {
      await task(relays, server);
    } finally {
      await relays.stop();
    }
  } finally {
    await server.stop();
  }
}

const logged = (relays: Relays, msg: string) =>
  Promise.all(
    relays.each.map(({ process: relay }) => relay.logLine((line) => line['msg'] === msg)),
  );

/** Refreshes until there is a token, as the client does after a 503. */
async function insist(page: OAuthPage, refreshToken: string): Promise<Answer> {
  return await eventually(async () => {
    const answer = await page.refresh(refreshToken);
    if (answer.status !== 503) return answer;
    expect(answer.headers['retry-after']).to.match(/^\d+$/);
    throw new Error(`${answer.body}`);
  }, 200);
}

/** Logs in, and lets six tabs refresh once more than they have failed. */
async function contend(relays: Relays, meanwhile: () => void | Promise<void> = () => {}) {
  const page = await relays.page();
  const { refreshToken } = await page.logIn();
  const before = relays.provider.credentials('refresh').length;
  const tabs = sixTabs.map(() => insist(page, refreshToken));
  await meanwhile();
  const got = (await Promise.all(tabs)).map(tokensOf);
  const calls = relays.provider.credentials('refresh').length - before;
  expect(relays.provider.accepts(got[0]?.accessToken ?? '')).to.equal(true);
  tokensOf(await insist(page, got[0]?.refreshToken ?? ''));
  return calls;
}

async function aloneFor(relays: Relays): Promise<number> {
  const page = await relays.page();
  const { refreshToken } = await page.logIn();
  const begun = performance.now();
  tokensOf(await page.refresh(refreshToken));
  return performance.now() - begun;
}

const pause = (milliseconds: number) => new Promise((resolve) => setTimeout(resolve, milliseconds));

describe('relays whose shared memory', function () {
  this.timeout(90_000);

  it('is killed while tabs wait for a refresh log nobody out', () =>
    withServer(async (relays, server) => {
      const calls = await contend(relays, async () => {
        await pause(80);
        await server.kill();
      });
      expect(calls).to.equal(1);
      await logged(relays, 'shared memory is away');
      const ready = await relays.at(0).get('/readyz');
      expect(JSON.parse(`${ready.body}`)).to.deep.equal({ status: 'ready', memory: 'away' });
      expect(ready.status).to.equal(200);
    }));

  it('is away for long refresh alone, without a wait', () =>
    withServer(async (relays, server) => {
      await server.kill();
      await logged(relays, 'shared memory is away');
      await pause(2000);
      expect(await aloneFor(relays)).to.be.below(1000);
    }));

  it('comes back empty agree again', () =>
    withServer(async (relays, server) => {
      await server.kill();
      await logged(relays, 'shared memory is away');
      await server.start();
      await logged(relays, 'shared memory is back');
      expect(await contend(relays)).to.equal(1);
    }));

  it('is restarted empty while tabs refresh log nobody out', () =>
    withServer(async (relays, server) => {
      for (let turn = 0; turn < 4; turn += 1) {
        const calls = await contend(relays, async () => {
          await pause(60);
          await server.kill();
          await server.start();
        });
        expect(calls).to.equal(1);
      }
    }));

  it('was restarted empty repeat the results of the last minute', () =>
    withServer(async (relays, server) => {
      const page = await relays.page();
      const { refreshToken } = await page.logIn();
      const { accessToken } = tokensOf(await page.refresh(refreshToken));
      await server.kill();
      await server.start();
      await logged(relays, 'shared memory is back');
      for (const _ of relays.each) {
        expect(tokensOf(await page.refresh(refreshToken)).accessToken).to.equal(accessToken);
      }
    }));

  it('is paused go on after a few seconds', () =>
    withServer(async (relays, server) => {
      server.pause();
      expect(await aloneFor(relays)).to.be.below(8000);
      await logged(relays, 'shared memory is away');
      await pause(2000);
      expect(await aloneFor(relays)).to.be.below(2000);
      server.resume();
      await logged(relays, 'shared memory is back');
      expect(await contend(relays)).to.equal(1);
    }));

  it('is paused again and again for 0.4 seconds log nobody out', () =>
    withServer(async (relays, server) => {
      let isOver = false;
      const hiccups = (async () => {
        while (!isOver) {
          server.pause();
          await pause(400);
          server.resume();
          await pause(100);
        }
      })();
      for (let turn = 0; turn < 8; turn += 1) expect(await contend(relays)).to.equal(1);
      isOver = true;
      await hiccups;
    }));

  it('is full refresh alone', () =>
    withServer(
      async (relays) => {
        const [line] = await logged(relays, 'shared memory is away');
        expect(line).to.have.property('reason', 'OOM');
        await aloneFor(relays);
      },
      { words: ['--maxmemory', '1'] },
    ));

  it('holds garbage answer as without it', () =>
    withServer(async (relays, server) => {
      const page = await relays.page();
      const { refreshToken } = await page.logIn();
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
      await aloneFor(relays);
    }));

  it('is 0.4 seconds away log nobody out', async () => {
    const server = await MemoryServer.start();
    const proxy = await TcpProxy.start(server.port);
    const relays = await Relays.start(3, { 'shared-memory': proxy.address });
    try {
      slowly(relays.provider);
      proxy.delay = 400;
      for (let turn = 0; turn < 4; turn += 1) expect(await contend(relays)).to.equal(1);
    } finally {
      await relays.stop();
      await proxy.stop();
      await server.stop();
    }
  });

  it('is behind a network that swallows everything go on, and agree again when it is mended', async () => {
    const server = await MemoryServer.start();
    const proxy = await TcpProxy.start(server.port);
    const relays = await Relays.start(3, { 'shared-memory': proxy.address });
    try {
      proxy.isPartitioned = true;
      expect(await aloneFor(relays)).to.be.below(8000);
      const [line] = await logged(relays, 'shared memory is away');
      expect(line?.['reason']).to.be.oneOf(['timeout', 'lost']);
      await pause(2000);
      expect(await aloneFor(relays)).to.be.below(1000);
      proxy.isPartitioned = false;
      await logged(relays, 'shared memory is back');
      expect(await contend(relays)).to.equal(1);
    } finally {
      await relays.stop();
      await proxy.stop();
      await server.stop();
    }
  });

  it('is away at their start are ready after two seconds, and agree when it is there', async () => {
    const server = await MemoryServer.start();
    await server.kill();
    const relays = await Relays.start(3, { 'shared-memory': server.address });
    try {
      slowly(relays.provider);
      expect((await relays.at(0).get('/readyz')).status).to.equal(200);
      const [line] = await logged(relays, 'shared memory is away');
      expect(line).to.have.property('reason', 'ECONNREFUSED');
      await aloneFor(relays);
      await server.start();
      await logged(relays, 'shared memory is back');
      expect(await contend(relays)).to.equal(1);
    } finally {
      await relays.stop();
      await server.stop();
    }
  });

  it('knows no logout of another relay while it is away, unless sessions must be checked', async () => {
    for (const check of ['open', 'strict'] as const) {
      await withServer(
        async (relays, server) => {
          const page = relays.sessionPage();
          await page.logIn();
          await server.kill();
          await logged(relays, 'shared memory is away');
          const answer = await page.describe();
          if (check === 'open') sessionOf(answer);
          else expectSessionFailure(answer, 'memory_away');
          expect(answer.headers['set-cookie']).to.equal(undefined);
          const { cookie } = page;
          await page.logOut();
          await server.start();
          await logged(relays, 'shared memory is back');
          // The relay that knows tells it to the others.
          for (const _ of check === 'open' ? relays.each : []) {
            expectSessionFailure(await page.describe({ cookie }), 'session_missing');
          }
        },
        { flags: { ...withSessions, 'session-check': check } },
      );
    }
  });

  it('dies with the relay that leads a refresh: others take over when its lock is over', () =>
    withServer(
      async (relays) => {
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
        const page = new OAuthPage(relays, relays.provider, key);
        tokensOf(await insist(page, refreshToken));
      },
      { flags: { 'provider-timeout': '2' } },
    ));
});
