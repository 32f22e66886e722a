import { expect } from 'chai';
import { oauthStart } from '../harness/login/oauth-front-end.ts';
import { baseUrl } from '../harness/relay/relay-under-test.ts';
import { eventually } from '../harness/system/eventually.ts';
import { MemoryServerHere } from '../harness/system/memory-server-here.ts';
import { clientsRelay, jsonOf } from './support/clients-relay.ts';

const appUri = 'com.example.tools:/callback';
const halfMinute = 30_000;
const httpsUri = 'https://tools.example.com/in?from=relay';
const frontEnds = `  tools:
    kind: native
    refresh-tokens: bearer
    redirect-uris:
      - http://127.0.0.1:4000/callback?app=cli
      - http://[::1]/callback
      - http://localhost/callback
      - ${httpsUri}
      - ${appUri}
  app: { origin: https://app.example }
`;

describe('a native front end', () => {
  const relay = clientsRelay(() => ({ frontEnds }));

  for (const redirect_uri of [
    'http://127.0.0.1:51004/callback?app=cli',
    'http://127.0.0.1:65535/callback?app=cli',
    'http://[::1]:51004/callback',
    'http://localhost:51004/callback',
    'http://localhost/callback',
    httpsUri,
    appUri,
    'COM.example.tools:/callback',
  ]) {
    it(`logs in at ${redirect_uri}, and refreshes`, async () => {
      const { start, code, location } = await relay().logIn({ client_id: 'tools', redirect_uri });
      const { href } = new URL(redirect_uri);
      expect(location.href.startsWith(href)).to.equal(true);
      expect(location.searchParams.get('iss')).to.equal(`${baseUrl}/auth/provider`);
      const tokens = jsonOf(await relay().redeem(start, code));
      const refreshed = await relay().refresh('tools', `${tokens['refresh_token']}`);
      expect(jsonOf(refreshed)['access_token']).to.be.a('string');
    });
  }

  for (const redirect_uri of [
    // Another host, path, query or scheme on this machine.
    'http://127.0.0.1:51004/callback',
    'http://127.0.0.1:51004/callback?app=cli&more=1',
    'http://127.0.0.1:51004/callback/?app=cli',
    'http://127.0.0.2:51004/callback?app=cli',
    'http://localhost:51004/callback?app=cli',
    'https://localhost:51004/callback',
    'http://localhost:65536/callback',
    'http://localhost:51004/callback#fragment',
    'http://localhost.:51004/callback',
    'http://sub.localhost:51004/callback',
    'http://[::ffff:127.0.0.1]:51004/callback',
    'http://[::2]:51004/callback',
    // Another host that begins or ends like it.
    'http://localhost.example.com:51004/callback',
    'http://localhost:51004@example.com/callback',
    'http://user@localhost:51004/callback',
    'http://example.com/http://localhost:51004/callback',
    // Other pages.
    'https://tools.example.com:444/in?from=relay',
    'https://tools.example.com/in',
    'https://tools.example.com/in/../in2?from=relay',
    // Other schemes, however they are spelt.
    'com.example.tools:/callback2',
    'com.example.tools://callback',
    'com.example.tool:/callback',
    'javascript:alert(1)',
    ' javascript:alert(1)',
    'java\nscript:alert(1)',
    'JAVASCRIPT://localhost/callback',
    'data:text/html,hello',
    'file:///callback',
    'blob:http://localhost:51004/callback',
    'about:blank',
    'vbscript:x',
    '',
  ]) {
    it(`does not redirect to ${JSON.stringify(redirect_uri)}`, async () => {
      const { parameters } = oauthStart({ client_id: 'tools', redirect_uri });
      const answer = await relay().open(relay().browser(), parameters);
      expect(answer.status).to.equal(400);
      expect(answer.headers).not.to.have.property('location');
    });
  }

  for (const [origin, status] of [
    ['https://tools.example.com', 200],
    ['http://localhost:1234', 200],
    ['http://127.0.0.1:1234', 200],
    ['http://[::1]:9', 200],
    ['https://app.example', 403],
    ['https://localhost:1234', 403],
    ['https://tools.example.com.evil.example', 403],
    ['null', 403],
  ] as const) {
    it(`answers ${status} to a token request with the Origin ${origin}`, async () => {
      const { start, code } = await relay().logIn({ client_id: 'tools', redirect_uri: httpsUri });
      const before = relay().provider.calls.length;
      const answer = await relay().redeem(start, code, {}, [['Origin', origin]]);
      expect(answer.status).to.equal(status);
      const allowed = answer.headers['access-control-allow-origin'];
      expect(allowed).to.equal(status === 200 ? origin : undefined);
      expect(relay().provider.calls).to.have.lengthOf(before + (status === 200 ? 1 : 0));
    });
  }

  it('gets no login without PKCE', async () => {
    const answer = await relay().send({ path: '/auth/provider/tools' });
    expect(answer.status).to.equal(400);
    expect(`${answer.body}`).to.contain('code_challenge');
  });
});

for (const [where, replicas] of [
  ['at one relay', 1],
  ['at two relays that remember together', 2],
] as const) {
  describe(`a native front end ${where}, at a provider that takes older refresh tokens,`, () => {
    let memory: MemoryServerHere;
    let settings: { frontEnds: string; replicas: number; relay: string };
    const relay = clientsRelay(async () => {
      memory = await MemoryServerHere.start();
      const shared = replicas > 1 ? `shared-memory: ${memory.address}` : '';
      settings = { frontEnds, replicas, relay: shared };
      return settings;
    });
    before(() => {
      memory.now = () => Date.now() + relay().ahead;
    });
    after(() => memory.stop());

    async function logIn(): Promise<string> {
      const { start, code } = await relay().logIn({ client_id: 'tools', redirect_uri: appUri });
      return refreshTokenOf(await relay().redeem(start, code));
    }
    const refreshTokenOf = (answer: Parameters<typeof jsonOf>[0]) => `${jsonOf(answer)['refresh_token']}`;
    const refresh = async (token: string) => await relay().refresh('tools', token);

    const outcomes = () => relay().lines.flatMap(({ outcome }) => (outcome === 'ok' ? [] : outcome));

    for (const rotation of ['keeps', 'adds', 'none'] as const) {
      it(`answers an older refresh token for a minute (${rotation})`, async () => {
        relay().provider.mood.rotation = rotation;
        const first = await logIn();
        relay().ahead += halfMinute;
        const second = refreshTokenOf(await refresh(first));
        relay().ahead += halfMinute;
        const third = refreshTokenOf(await refresh(second));
        relay().ahead += 25_000;
        const again = await refresh(first);
        expect(again.status).to.equal(200);
        // The token from the older refresh token is as valid as the last token, and replaces nothing.
        await refresh(refreshTokenOf(again));
        relay().ahead += 70_000;
        expect((await refresh(third)).status).to.equal(200);
      });

      it(`ends a login whose older refresh token comes after its minute (${rotation})`, async () => {
        const { provider, lines } = relay();
        provider.mood.rotation = rotation;
        const stolen = await logIn();
        relay().ahead += halfMinute;
        const ofThief = refreshTokenOf(await refresh(stolen));
        relay().ahead += 70_000;
        lines.length = 0;
        for (const token of [stolen, ofThief, stolen]) {
          expect(jsonOf(await refresh(token))).to.include({ error: 'invalid_grant' });
        }
        expect(outcomes()).to.deep.equal(['refresh_reused', 'grant_invalid', 'grant_invalid']);
        await eventually(async () => expect(provider.credentials('revocation')).to.not.be.empty);
      });
    }

    it('has one entry for each login, and gives the same refresh token for half a minute', async () => {
      relay().provider.mood.rotation = 'keeps';
      const entries = () => [...memory.values.keys()].filter((name) => name.includes(':g:'));
      const before = entries().length;
      let token = await logIn();
      for (let times = 0; times < 5; times += 1) token = refreshTokenOf(await refresh(token));
      expect(entries()).to.have.lengthOf(before);
      for (let times = 0; times < 5; times += 1) {
        relay().ahead += halfMinute;
        token = refreshTokenOf(await refresh(token));
      }
      expect(entries()).to.have.lengthOf(before + replicas - 1);
    });

    it('refuses an older refresh token that ends later than its replacement', async () => {
      const { mood } = relay().provider;
      mood.rotation = 'keeps';
      const first = await logIn();
      relay().ahead += halfMinute;
      mood.refreshExpiresIn = 60;
      await refresh(first);
      relay().ahead += 130_000;
      expect((await refresh(first)).status).to.equal(400);
    });

    it(`${replicas === 1 ? 'accepts any of these tokens' : 'still refuses the token'} after a restart`, async () => {
      relay().provider.mood.rotation = 'keeps';
      const first = await logIn();
      relay().ahead += halfMinute;
      const second = refreshTokenOf(await refresh(first));
      relay().ahead += 70_000;
      await relay().restart(settings);
      expect((await refresh(first)).status).to.equal(replicas === 1 ? 200 : 400);
      expect((await refresh(second)).status).to.equal(replicas === 1 ? 200 : 400);
    });

    it('lets many refresh with one token at once', async () => {
      relay().provider.mood.rotation = 'keeps';
      const first = await logIn();
      for (const answer of await Promise.all(Array.from({ length: 20 }, () => refresh(first)))) {
        expect((await refresh(refreshTokenOf(answer))).status).to.equal(200);
      }
    });
  });
}

describe('the refreshes of one client address at the provider', () => {
  const settings = { frontEnds, relay: 'trusted-proxies: 127.0.0.1\nrefused-exchanges: 1' };
  const relay = clientsRelay(() => settings);

  it('are at most thirty times as many in ten minutes as refused exchanges', async () => {
    const refreshFrom = async (address: string) => {
      const { start, code } = await relay().logIn({ client_id: 'tools', redirect_uri: appUri });
      const { refresh_token } = jsonOf(await relay().redeem(start, code));
      return await relay().refresh('tools', `${refresh_token}`, [['X-Forwarded-For', address]]);
    };
    for (let times = 0; times < 30; times += 1) {
      expect((await refreshFrom('198.51.100.1')).status).to.equal(200);
    }
    const { status, body } = await refreshFrom('198.51.100.1');
    expect(status).to.equal(429);
    expect(`${body}`).to.contain('Too many logins and refreshes');
    expect((await refreshFrom('198.51.100.2')).status).to.equal(200);
  });
});
