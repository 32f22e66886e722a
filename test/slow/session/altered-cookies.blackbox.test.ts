import { expect } from 'chai';
import fc from 'fast-check';
import { keepAliveAgent } from '../../harness/client/http-client.ts';
import { manyAtOnce } from '../../harness/client/many-at-once.ts';
import { request } from '../../harness/client/request.ts';
import { alteredCookies } from '../../harness/login/altered-cookies.ts';
import { SessionPage, sessionFlags, sessionOf } from '../../harness/login/session-page.ts';
import { json } from '../../harness/provider/provider-behaviours.ts';
import { RefreshingProvider } from '../../harness/provider/refreshing-provider.ts';
import { useRelays } from '../../harness/relay/relay-under-test.ts';

/** How many altered cookies are sent. The property beside this test tries ten times as many without HTTP. */
const count = Number(process.env['ALTERED_COOKIES'] ?? 10_000);
const atOnce = 32;
const perBatch = 1000;

describe(`a relay that gets ${count} altered cookies of sessions`, () => {
  const startRelay = useRelays();

  it('refuses all of them, and asks the provider nothing', async function () {
    this.timeout(1_800_000);
    const provider = await RefreshingProvider.start();
    const relay = await startRelay({
      client: provider.registration,
      flags: { ...provider.flags, ...(await sessionFlags()) },
    });
    const page = new SessionPage(() => relay, provider);
    const sessions: string[][] = [];
    for (const length of [20, 20, 3000, 3000, 6000, 6000]) {
      provider.onToken = json({ access_token: 'a'.repeat(length), token_type: 'bearer' });
      await page.logIn();
      sessions.push(page.cookie.split('; ').map((cookie) => cookie.replace(/^[^=]*=/, '')));
    }
    provider.calls.length = 0;
    const statuses = new Map<number, number>();
    const agent = keepAliveAgent(atOnce);
    for (let sent = 0; sent < count; sent += perBatch) {
      const cookies = fc.sample(alteredCookies(sessions), Math.min(perBatch, count - sent));
      await manyAtOnce(cookies.length, atOnce, async (index) => {
        const { status } = await request(relay.port, {
          path: index % 2 === 0 ? '/auth/session' : '/api/user',
          headers: [
            ['X-Login-Relay', '1'],
            ['Cookie', cookies[index] ?? ''],
          ],
          authority: 'relay.example',
          agent,
          repeatable: true,
        });
        statuses.set(status, (statuses.get(status) ?? 0) + 1);
      });
    }
    expect([...statuses]).to.deep.equal([[401, count]]);
    expect(provider.calls).to.deep.equal([]);
    sessionOf(await page.describe());
    await provider.stop();
  });
});
