import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import { useLoginSite } from '../../harness/relay/login-site.ts';
import type { Engine, Tab, Visitor } from './engine.ts';
import { chromium, firefox } from './puppeteer.ts';
import { webkit } from './webkit.ts';

const engines: readonly Engine[] = [chromium, firefox, webkit];
const wanted = process.env['ENGINES']?.split(' ');

const clientPage = readFileSync(new URL('../front-end/pages/client.html', import.meta.url), 'utf8');

for (const engine of engines.filter(({ name }) => wanted?.includes(name) ?? true)) {
  describe(`the browser client in ${engine.name}`, function () {
    this.timeout(60_000);
    const site = useLoginSite({
      frontEnd: (relay) => clientPage.replaceAll('https://login.example.com', relay),
    });
    let visitor: Visitor | undefined;

    before(`${engine.name} starts`, () => engine.start());
    afterEach(async () => {
      await visitor?.leave();
      visitor = undefined;
    });
    after(`${engine.name} ends`, () => engine.stop());

    async function openPage(path = '/'): Promise<Tab> {
      visitor ??= await engine.newVisitor();
      const tab = await visitor.openTab();
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
      it(`logs in from ${path}, comes back there, and stays logged in over a reload`, async () => {
        const tab = await openPage(path);
        await loggedOut(tab);
        await tab.click('#log-in');
        await authorize(tab);
        await loggedIn(tab);
        expect(await tab.url()).to.equal(site().frontEnd + path);
        expect(site().tokenCalls).to.have.length(1);
        await tab.open(`${site().frontEnd}/another`);
        await loggedIn(tab);
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

    it('logs in in a popup', async () => {
      const tab = await openPage();
      await loggedOut(tab);
      if (visitor === undefined) throw new Error('nobody is there');
      const popup = await visitor.popup(() => tab.click('#log-in-popup'));
      await authorize(popup);
      await loggedIn(tab);
      await tab.shows('[role=alert]', 'popup done');
    });

    it('says that the person cancelled', async () => {
      const tab = await openPage('/list');
      await tab.click('#log-in');
      await tab.click('button[value=cancel]');
      await tab.shows('[role=alert]', 'access_denied');
      expect(await tab.url()).to.equal(`${site().frontEnd}/list`);
    });
  });
}
