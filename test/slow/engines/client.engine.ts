import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import { useLoginSite } from '../../harness/relay/login-site.ts';
import type { Tab } from './engine.ts';
import { engines, useEngine } from './engines.ts';

const clientPage = readFileSync(new URL('../front-end/pages/client.html', import.meta.url), 'utf8');

for (const engine of engines) {
  describe(`the browser client in ${engine.name}`, () => {
    const site = useLoginSite({
      frontEnd: (relay) => clientPage.replaceAll('https://login.example.com', relay),
    });
    const { openTab, popup: popupDuring } = useEngine(engine);

    async function openPage(path = '/'): Promise<Tab> {
      const tab = await openTab();
      await tab.open(site().frontEnd + path);
      return tab;
    }

    const loggedIn = (tab: Tab) => tab.shows('[role=status]', 'Hello, Ada Lovelace');
    const loggedOut = (tab: Tab) => tab.shows('[role=status]', 'Nobody');

    async function authorize(tab: Tab): Promise<void> {
      await tab.type('#name', 'Ada Lovelace');
      await tab.click('button[value=login]');
    }

    for (const path of ['/', '/list?page=2', '/#/list']) {
      it(`logs in from ${path}, returns to this page, and stays logged in, with one call at the provider`, async () => {
        const tab = await openPage(path);
        await loggedOut(tab);
        await tab.click('#log-in');
        await authorize(tab);
        await loggedIn(tab);
        expect(await tab.url()).to.equal(site().frontEnd + path);
        await tab.open(`${site().frontEnd}/another`);
        await loggedIn(tab);
        await loggedIn(await openPage());
        expect(site().tokenCalls).to.equal(1);
      });
    }

    it('logs in and out in all tabs', async () => {
      const tab = await openPage();
      await tab.click('#log-in');
      await authorize(tab);
      await loggedIn(tab);
      const other = await openPage();
      await loggedIn(other);
      await other.click('#log-out');
      await loggedOut(other);
      await loggedOut(tab);
    });

    it('says that the person came back from the provider, who can then log in', async () => {
      const tab = await openPage();
      await loggedOut(tab);
      await tab.click('#log-in');
      await tab.shows('button[value=login]', 'Log in');
      await tab.back();
      await tab.shows('[role=alert]', 'login_left');
      await tab.click('#log-in');
      await authorize(tab);
      await loggedIn(tab);
    });

    it('logs in in a popup', async () => {
      const tab = await openPage();
      await loggedOut(tab);
      const popup = await popupDuring(() => tab.click('#log-in-popup'));
      await authorize(popup);
      await loggedIn(tab);
      await tab.shows('[role=alert]', 'popup done');
    });
  });
}
