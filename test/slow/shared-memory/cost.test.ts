import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import { FakeBrowser } from '../../harness/browser/fake-browser.ts';
import { logInTo, redemption } from '../../harness/login/oauth-front-end.ts';
import { tokensOf } from '../../harness/login/oauth-page.ts';
import { MemoryServerHere } from '../../harness/system/memory-server-here.ts';
import { Relays, withSessions } from './support/relays.ts';

const manual = readFileSync(new URL('../../../docs/operations.md', import.meta.url), 'utf8');

/** The number of commands that the manual gives for a step. */
function documented(step: string): number {
  return Number(new RegExp(`^\\| ${step} \\| (\\d+)`, 'm').exec(manual)?.[1]);
}

describe('a relay with a shared memory', () => {
  let server: MemoryServerHere;
  before(async () => {
    server = await MemoryServerHere.start();
  });
  after(() => server.stop());

  /** Runs a step, and counts the commands that it takes. */
  async function commandsOf(step: () => Promise<unknown>): Promise<number> {
    server.commands.length = 0;
    await step();
    return server.commands.filter((name) => name !== 'PING').length;
  }

  it('sends as many commands as the manual says', async () => {
    const flags = {
      'shared-memory': server.address,
      'refused-exchanges': '10',
      'trusted-proxies': '127.0.0.1',
    };
    const relays = await Relays.start(1, flags);
    const withCookies = await Relays.start(1, { ...flags, ...withSessions });
    try {
      const page = await relays.page();
      const { refreshToken } = await page.logIn();
      const response = await logInTo(new FakeBrowser(() => relays), relays);
      const forwarded: [string, string][] = [['X-Forwarded-For', '198.51.100.1']];
      expect(
        await commandsOf(async () =>
          tokensOf(await page.request(redemption(response), { headers: forwarded })),
        ),
        'redemption',
      ).to.equal(documented('redeem a code'));
      expect(await commandsOf(async () => tokensOf(await page.refresh(refreshToken)))).to.equal(
        documented('refresh'),
      );
      const session = withCookies.sessionPage();
      await session.logIn();
      expect(await commandsOf(() => session.describe())).to.equal(
        documented('request with a session'),
      );
      expect(await commandsOf(() => session.logOut())).to.equal(documented('logout'));
    } finally {
      await relays.stop();
      await withCookies.stop();
    }
  });
});
