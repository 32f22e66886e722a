import { expect } from 'chai';
import { FakeBrowser } from '../../harness/browser/fake-browser.ts';
import type { Answer } from '../../harness/client/http-client.ts';
import { expectRedirect } from '../../harness/expect/expectations.ts';
import { expectOAuthError, requestToken } from '../../harness/login/oauth-front-end.ts';
import { type OAuthPage, tokensOf } from '../../harness/login/oauth-page.ts';
import { expectSessionFailure, sessionOf } from '../../harness/login/session-page.ts';
import { callbackPath, loginPath } from '../../harness/relay/relay-under-test.ts';
import { eventually } from '../../harness/system/eventually.ts';
import { MemoryServer, memoryProgram } from '../../harness/system/memory-server.ts';
import { needsPrograms } from '../../harness/system/needs.ts';
import { startedOnce } from '../../harness/system/started-once.ts';
import { Relays, slowly, withSessions } from './support/relays.ts';

const tabs = Array.from({ length: 20 });
const { describe } = needsPrograms(memoryProgram);

/** Starts a server and three relays for the enclosing `describe`. */
function threeRelays(flags = {}): () => Relays & { readonly server: MemoryServer } {
  const one = startedOnce(
    'a server and three relays',
    async () => {
      const server = await MemoryServer.start();
      const relays = await Relays.start(3, { 'shared-memory': server.address, ...flags });
      await relays.share();
      slowly(relays.provider);
      return Object.assign(relays, { server });
    },
    async (relays) => {
      await relays.stop();
      await relays.server.stop();
    },
  );
  beforeEach(() => {
    one().provider.calls.splice(0);
  });
  return one;
}

async function expectAlive(
  { provider }: Relays,
  page: OAuthPage,
  { accessToken, refreshToken }: { accessToken: string; refreshToken: string },
): Promise<void> {
  expect(provider.accepts(accessToken)).to.equal(true);
  tokensOf(await page.refresh(refreshToken));
}

/** Sends a request whose answer gets lost. */
async function lose(send: (signal: AbortSignal) => Promise<Answer>): Promise<void> {
  const gone = new AbortController();
  const sent = send(gone.signal).then(
    () => expect.fail('the answer was not lost'),
    () => {},
  );
  setTimeout(() => gone.abort(), 60);
  await sent;
}

describe('three relays that share a memory', () => {
  const relays = threeRelays();
  const refreshes = () => relays().provider.credentials('refresh').length;

  it('refresh once for twenty tabs, and all get the tokens', async () => {
    const { page, refreshToken } = await relays().loggedInPage();
    const got = (await Promise.all(tabs.map(() => page.refresh(refreshToken)))).map(tokensOf);
    expect(refreshes()).to.equal(1);
    expect(new Set(got.map(({ accessToken }) => accessToken)).size).to.equal(1);
    await expectAlive(relays(), page, got[0] ?? expect.fail());
  });

  it('repeat an answer that got lost, with the seconds that it has left', async () => {
    const { page, refreshToken } = await relays().loggedInPage();
    await page.refresh('nothing');
    await lose((signal) => page.refresh(refreshToken, { signal }));
    const got = tokensOf(await page.refresh(refreshToken));
    expect(refreshes()).to.equal(1);
    expect(got.expiresIn).to.be.within(28_700, 28_800);
    await expectAlive(relays(), page, got);
  });

  it('repeat it after all of them were restarted', async () => {
    const { page, refreshToken } = await relays().loggedInPage();
    tokensOf(await page.refresh(refreshToken));
    await relays().restart();
    const got = tokensOf(await page.refresh(refreshToken));
    expect(refreshes()).to.equal(1);
    await expectAlive(relays(), page, got);
  });

  it('give both tabs the token if a callback is opened twice, and nobody later', async () => {
    const browser = new FakeBrowser(relays);
    const request = expectRedirect(await browser.open(loginPath));
    const code = relays().provider.authorize(request);
    const callback = `${callbackPath}?${new URLSearchParams({
      code,
      state: request.searchParams.get('state') ?? '',
    })}`;
    const cookie = [...browser.cookies].map(([name, value]) => `${name}=${value}`).join('; ');
    const open = (): Promise<Answer> => new FakeBrowser(relays).open(callback, { headers: [['Cookie', cookie]] });
    const { onToken } = relays().provider;
    relays().provider.onToken = onceAwaited(onToken, relays().server);
    const locations = (await Promise.all([open(), open()])).map(expectRedirect);
    const tokens = new Set(locations.map(({ searchParams }) => searchParams.get('access_token')));
    expect(tokens.size).to.equal(1);
    expect(relays().provider.accepts([...tokens][0] ?? '')).to.equal(true);
    relays().provider.onToken = onToken;
    expect((await open()).status).to.equal(400);
    expect(relays().provider.credentials('token')).to.have.lengthOf(1);
  });

  it('accept a proof once', async () => {
    const { page, refreshToken } = await relays().loggedInPage();
    relays().provider.mood.rotation = 'keeps';
    const nonce = (await page.refresh(refreshToken)).headers['dpop-nonce'];
    const proof = { claims: { nonce, jti: 'the same in each proof' } };
    tokensOf(await page.refresh(refreshToken, { proof }));
    for (const _ of relays().each) {
      expectOAuthError(await page.refresh(refreshToken, { proof }), 'invalid_dpop_proof');
    }
    relays().provider.mood.rotation = 'rotates';
  });

  it('revoke the newest token of a login, and repeat no result of it', async () => {
    const { page, refreshToken } = await relays().loggedInPage();
    const { accessToken } = tokensOf(await page.refresh(refreshToken));
    const revoked = await requestToken(relays(), { token: refreshToken, client_id: 'app' }, [], {
      path: `${loginPath}/revoke`,
    });
    expect(revoked.status, `${revoked.body}`).to.equal(200);
    expect(relays().provider.accepts(accessToken)).to.equal(false);
    for (const _ of relays().each) {
      expectOAuthError(await page.refresh(refreshToken), 'invalid_grant');
    }
  });

  it('log nobody out while they are replaced one by one and two tabs refresh all the time', async () => {
    const { page, ...first } = await relays().loggedInPage();
    let newest = first;
    let isOver = false;
    const tab = async () => {
      while (!isOver) newest = tokensOf(await page.refresh(newest.refreshToken));
    };
    const both = Promise.all([tab(), tab()]);
    for (const index of [0, 1, 2]) await relays().replace(index);
    isOver = true;
    await both;
    await expectAlive(relays(), page, newest);
  });

  it('log nobody out while they read their configuration again', async () => {
    const { page, refreshToken } = await relays().loggedInPage();
    const inFlight = page.refresh(refreshToken);
    for (const { process: relay } of relays().each) process.kill(relay.pid, 'SIGHUP');
    tokensOf(await inFlight);
    await expectAlive(relays(), page, tokensOf(await page.refresh(refreshToken)));
  });

  it('leave no token in the names or values of the server, and nothing without an end', async () => {
    const { page, ...before } = await relays().loggedInPage();
    const after = tokensOf(await page.refresh(before.refreshToken));
    const content = await relays().server.content();
    expect(content).to.not.equal([]);
    for (const { key, value, left } of content) {
      expect(key).to.match(/^login-relay:1:[a-z]:[\w-]{43}$/);
      expect(left).to.be.above(0);
      for (const secret of [...Object.values(before), ...Object.values(after)]) {
        if (typeof secret === 'string' && secret.length > 20) expect(key + value).to.not.include(secret);
      }
    }
  });

  it('never give a login the result of another login, even if the values are swapped', async () => {
    const one = await relays().loggedInPage();
    const other = await relays().loggedInPage();
    await relays().server.run(['FLUSHALL']);
    const first = tokensOf(await one.page.refresh(one.refreshToken));
    const second = tokensOf(await other.page.refresh(other.refreshToken));
    const left = (await relays().server.content()).filter(({ key }) => key.includes(':r:'));
    expect(left).to.have.lengthOf(2);
    await relays().server.run(
      ['SET', left[0]?.key ?? '', left[1]?.value ?? '', 'PX', '60000'],
      ['SET', left[1]?.key ?? '', left[0]?.value ?? '', 'PX', '60000'],
    );
    for (const [{ page, refreshToken }, { accessToken }] of [
      [one, second],
      [other, first],
    ] as const) {
      for (const _ of relays().each) {
        expect(`${(await page.refresh(refreshToken)).body}`).to.not.include(accessToken);
      }
    }
  });
});

describe('three relays with sessions that share a memory', () => {
  const relays = threeRelays(withSessions);

  it('refresh once for twenty tabs, and the session lives on', async () => {
    const page = await relays().sessionPage();
    const { cookie } = page;
    for (const answer of await Promise.all(tabs.map(() => page.refresh({ cookie })))) sessionOf(answer);
    expect(relays().provider.credentials('refresh')).to.have.lengthOf(1);
    sessionOf(await page.refresh());
    expect((await page.lookUp()).status).to.equal(200);
  });

  it('do not open a copy of the cookie after a logout, even after they were restarted', async () => {
    const page = await relays().sessionPage();
    const { cookie } = page;
    expect((await page.logOut()).status).to.equal(200);
    for (const _ of relays().each) expectSessionFailure(await page.describe({ cookie }), 'session_missing');
    await relays().restart();
    for (const _ of relays().each) {
      expectSessionFailure(await page.describe({ cookie }), 'session_missing');
      expectSessionFailure(await page.refresh({ cookie }), 'session_missing');
      expect((await page.lookUp({ cookie })).status).to.equal(401);
    }
  });

  it('do not bring a session back by a refresh that was in flight elsewhere during the logout', async () => {
    const page = await relays().sessionPage();
    const { cookie } = page;
    const { promise: over, resolve: end } = Promise.withResolvers<void>();
    slowly(relays().provider, over);
    const refreshed = page.refresh({ cookie });
    await eventually(async () => {
      expect(relays().provider.credentials('refresh')).to.have.lengthOf(1);
    });
    await page.logOut({ cookie });
    end();
    slowly(relays().provider);
    const answer = await refreshed;
    expectSessionFailure(answer, 'session_missing');
    expect(answer.headers['set-cookie']).to.equal(undefined);
  });
});

describe('three relays with limits that share a memory', () => {
  const relays = threeRelays({
    'trusted-proxies': '127.0.0.1',
    'rate-limit': '40',
    'refused-exchanges': '10',
  });
  const from = (address: string): [string, string][] => [['X-Forwarded-For', address]];

  it('count the requests of a client together', async () => {
    const statuses = await Promise.all(
      Array.from({ length: 60 }, async () => {
        const answer = await requestToken(relays(), { client_id: 'app' }, from('198.51.100.1'));
        return answer.status;
      }),
    );
    expect(statuses.filter((status) => status !== 429)).to.have.lengthOf(40);
  });

  it('count together what the provider refuses to a client', async () => {
    relays().provider.onUser = (response) => response.writeHead(401).end('{}');
    for (let call = 0; call < 30; call += 1) {
      const headers: [string, string][] = [['Authorization', `Bearer made-up-${call}`]];
      await relays()
        .at(call)
        .send({ path: '/api/user', headers: [...headers, ...from('198.51.100.2')] });
    }
    expect(relays().provider.credentials('user')).to.have.lengthOf(10);
  });
});

type Behaviour = Relays['provider']['onToken'];
/** Answers a call once another relay has looked for its result, which it does by SET. */
function onceAwaited(behaviour: Behaviour, server: MemoryServer): Behaviour {
  const looks = async () => (await server.commands())['set'] ?? 0;
  return async (response, call) => {
    const before = await looks();
    await eventually(async () => expect(await looks()).to.be.above(before));
    behaviour(response, call);
  };
}
