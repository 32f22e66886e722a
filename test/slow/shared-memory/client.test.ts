import { expect } from 'chai';
import { needsChromium, refuseOnce, useBrowser } from '../../harness/browser/chromium.ts';
import { MemoryServer } from '../../harness/system/memory-server.ts';
import { loggedIn, logIn } from '../front-end/support/client-page.ts';
import { useClientSite } from '../front-end/support/client-site.ts';
import { RoundRobin } from './support/round-robin.ts';

const { describe } = needsChromium();
const tabs = 20;

describe('the browser client in Chromium, at three relays that share a memory', () => {
  let server: MemoryServer;
  let balancer: RoundRobin;
  before('start the server', async () => {
    server = await MemoryServer.start();
  });
  const openBrowser = useBrowser();
  const site = useClientSite('tokens', undefined, {
    flags: () => ({ 'shared-memory': server.address }),
    balance: async (port, relays) => {
      balancer = await RoundRobin.start(port, relays);
      return balancer;
    },
  });
  after('stop the server', () => server.stop());

  it('keeps twenty tabs logged in, also if the answer to a refresh gets lost', async () => {
    const page = await openBrowser();
    await page.goto(`${site().frontEnd}/`);
    await logIn(page);
    const context = page.context();
    const all = [page];
    while (all.length < tabs) {
      const tab = await context.newPage();
      await tab.goto(`${site().frontEnd}/`);
      await loggedIn(tab);
      all.push(tab);
    }
    const calls = site().provider.tokenRequests.length;
    for (const tab of all) await refuseOnce(tab, '**/api/user*');
    balancer.loses = '/auth/provider/token';
    const users = await Promise.all(
      all.map((tab) => tab.evaluate('login.user().then(({ sub }) => sub)')),
    );
    expect(users).to.deep.equal(all.map(() => 'ada'));
    expect(balancer.loses).to.equal(undefined);
    for (const tab of all) {
      await tab.reload();
      await loggedIn(tab);
    }
    expect(site().provider.tokenRequests.length).to.equal(calls + 1);
  });
});
