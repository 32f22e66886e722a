import { expect } from 'chai';
import { useSessionSite } from '../../harness/relay/session-site.ts';
import type { Tab } from './engine.ts';
import { engines, useEngine } from './engines.ts';

const loggedIn = (tab: Tab) => tab.shows('[role=status]', 'Hello, Ada Lovelace');
const loggedOut = (tab: Tab) => tab.shows('[role=status]', 'Nobody');

for (const engine of engines) {
  describe(`a session in ${engine.name}`, () => {
    const { openTab } = useEngine(engine);
    const site = useSessionSite(engine.hostsOfSite);

    async function openPage(): Promise<Tab> {
      const tab = await openTab();
      await tab.open(site().frontEnd);
      return tab;
    }

    async function logIn(): Promise<Tab> {
      const tab = await openPage();
      await loggedOut(tab);
      await tab.click('#log-in');
      await tab.click('#continue');
      await loggedIn(tab);
      return tab;
    }

    it('goes on after a reload and in a second tab, without a call for a token', async () => {
      const tab = await logIn();
      expect(await tab.url()).to.equal(`${site().frontEnd}/`);
      await tab.open(site().frontEnd);
      await loggedIn(tab);
      await loggedIn(await openPage());
      expect(site().refreshes).to.equal(0);
    });

    it('is refreshed when its access token has ended, and ends after a day without', async () => {
      const tab = await logIn();
      site().advance(23);
      await tab.open(site().frontEnd);
      await loggedIn(tab);
      expect(site().refreshes).to.equal(1);
      site().advance(25);
      await tab.open(site().frontEnd);
      await loggedOut(tab);
    });

    it('ends in every tab after a logout in one tab', async () => {
      const tab = await logIn();
      const other = await openPage();
      await loggedIn(other);
      await other.click('#log-out');
      await loggedOut(other);
      await loggedOut(tab);
      await tab.open(site().frontEnd);
      await loggedOut(tab);
      expect(site().provider.credentials('revocation')).to.have.lengthOf(2);
    });

    it('does not come back with the back button after a logout in another tab', async () => {
      const tab = await logIn();
      await tab.shows('#shown', 'loaded');
      await tab.open(`${site().frontEnd}/elsewhere`);
      const other = await openPage();
      await loggedIn(other);
      await other.click('#log-out');
      await loggedOut(other);
      await tab.back();
      await tab.shows('#shown', engine.name === 'WebKitGTK' ? 'kept' : 'loaded');
      await loggedOut(tab);
    });
  });
}
