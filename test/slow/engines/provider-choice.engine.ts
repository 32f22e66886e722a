// A person chooses one of two providers at an application behind the relay.

import { expect } from 'chai';
import { type ChoiceSite, startChoiceSite } from '../../browsers/support/choice-site.ts';
import type { Tab } from './engine.ts';
import { engines, useEngine } from './engines.ts';

const buttons = `[...document.querySelectorAll('button')].map((one) => one.value).join()`;

for (const engine of engines) {
  describe(`the choice of a provider in ${engine.name}`, () => {
    const { openTab } = useEngine(engine);
    let site: ChoiceSite;
    before('start the relay', async () => {
      site = await startChoiceSite();
    });
    beforeEach(() => site.configure());
    after('stop it', () => site.stop());

    /** A tab with the page to choose, in place of a page of the application. */
    async function asked(path: string, tab?: Tab): Promise<Tab> {
      const opened = tab ?? (await openTab());
      await opened.open(site.wiki + path);
      await opened.arrives(`${site.wiki}/.login-relay/choose`);
      await opened.shows('h1', 'Log in');
      return opened;
    }

    it('leads back to the page, after one login at the provider that was chosen', async () => {
      const tab = await asked('/notes?a=b%20c');
      await tab.click('[value=second]');
      await tab.shows('h1', 'second:42 at /notes?a=b%20c');
      expect(await tab.url()).to.equal(`${site.wiki}/notes?a=b%20c`);
      await tab.open(`${site.wiki}/other`);
      await tab.shows('h1', 'second:42 at /other');
      expect(site.asked).to.deep.equal({ provider: 0, second: 1 });
      expect(await tab.value('document.cookie')).to.equal('');
    });

    it('can be corrected with the back button, and is last first after a logout', async () => {
      const tab = await asked('/notes');
      expect(await tab.value(buttons)).to.equal('provider,second');
      await tab.click('[value=provider]');
      await tab.shows('h1', 'The first provider');
      await tab.back();
      await tab.shows('h1', 'Log in');
      await tab.click('[value=second]');
      await tab.shows('h1', 'second:42 at /notes');
      await tab.click('#out');
      await tab.shows('h1', 'Log out');
      await tab.click('form button');
      await tab.shows('h1', 'logged out');
      await asked('/again', tab);
      expect(await tab.value(buttons)).to.equal('second,provider');
      await tab.click('[value=provider]');
      await tab.click('#in');
      await tab.shows('h1', 'provider:42 at /again');
    });

    it('fits into a narrow and a wide window, with no need to scroll sideways', async () => {
      const tab = await asked('/');
      for (const [width, height] of [
        [1100, 700],
        [420, 640],
      ] as const) {
        await tab.resize(width, height);
        const beyond = await tab.value('document.documentElement.scrollWidth - innerWidth');
        expect(Number(beyond), `${width}`).to.be.at.most(0);
        const [first, second] = JSON.parse(
          `${await tab.value(`JSON.stringify([...document.querySelectorAll('button')].map((one) => one.getBoundingClientRect()))`)}`,
        );
        expect(first.width, `${width}`).to.equal(second.width);
        expect(first.bottom, `${width}`).to.be.at.most(second.top);
        expect(second.bottom, `${width}`).to.be.at.most(height);
      }
    });

    // The driver of WebKitGTK has one tab in front at a time.
    if (engine.name !== 'WebKitGTK')
      it('lets a second tab in by a reload, once the first one has logged in', async () => {
        const first = await asked('/first');
        const second = await asked('/second');
        await first.click('[value=second]');
        await first.shows('h1', 'second:42 at /first');
        await second.open(await second.url());
        await second.shows('h1', 'second:42 at /second');
        expect(site.asked).to.deep.equal({ provider: 0, second: 1 });
      });
  });
}
