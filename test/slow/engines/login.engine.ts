import { expect } from 'chai';
import { cmsPage, repeatGreeting } from '../../harness/browser/cms-page.ts';
import { useLoginSite } from '../../harness/relay/login-site.ts';
import type { Tab } from './engine.ts';
import { engines, useEngine } from './engines.ts';

for (const engine of engines) {
  describe(`a login in ${engine.name}`, () => {
    const { openTab, popup: popupDuring } = useEngine(engine);

    async function authorize(tab: Tab, name: string): Promise<void> {
      await tab.type('#name', name);
      await tab.click('button[value=login]');
    }

    for (const { scheme, finished } of [
      { scheme: 'http', finished: /^lr_login_finished=/ },
      { scheme: 'https', finished: /^__Host-Http-lr_login_finished=.*; Secure/i },
    ]) {
      describe(`at a relay on ${scheme}`, () => {
        const site = useLoginSite({ https: scheme === 'https' });

        async function openFrontEnd(): Promise<Tab> {
          const tab = await openTab();
          await tab.open(site().frontEnd);
          return tab;
        }

        async function loggedIn(): Promise<Tab> {
          const tab = await openFrontEnd();
          await tab.click('#login');
          await authorize(tab, 'Ada Lovelace');
          await tab.shows('#in', 'Ada Lovelace');
          return tab;
        }

        it('returns the person to the front end, without a token in the address', async () => {
          const tab = await loggedIn();
          expect(await tab.url()).to.equal(`${site().frontEnd}/`);
          expect(site().tokenCalls).to.equal(1);
          const [callback] = site().callbacks;
          expect(callback?.outcome).to.equal('ok');
          expect(callback?.setCookies.some((cookie) => finished.test(cookie))).to.equal(true);
        });

        // The rest is the same on both.
        if (scheme === 'http') return;

        it('finishes in two tabs at once, in any order', async () => {
          const first = await openFrontEnd();
          await first.click('#login');
          await first.arrives(site().provider);
          const second = await openFrontEnd();
          await second.click('#login');
          await second.arrives(site().provider);
          await authorize(second, 'Grace Hopper');
          await second.shows('#in', 'Grace Hopper');
          await authorize(first, 'Ada Lovelace');
          await first.shows('#in', 'Ada Lovelace');
          expect(site().callbacks.map(({ outcome }) => outcome)).to.deep.equal(['ok', 'ok']);
        });

        it('is refused if this browser did not start it', async () => {
          const tab = await openTab();
          const callback = `${site().callbackUrl}?code=of-somebody-else`;
          await tab.open(site().attacker + site().publish(`<a href="${callback}">A prize</a>`));
          await tab.click('a');
          await tab.shows('body', 'detail');
          expect(site().callbacks.map(({ outcome }) => outcome)).to.deep.equal(['state_missing']);
          expect(site().tokenCalls).to.equal(0);
        });

        it('is reported as finished if its callback is opened again', async () => {
          const tab = await loggedIn();
          await tab.open(site().callbacks[0]?.url.href ?? '');
          await tab.shows('body', 'already finished');
          expect(site().tokenCalls).to.equal(1);
        });
      });
    }

    describe('in the popup of a CMS', () => {
      const site = useLoginSite({
        frontEnd: (relay) => cmsPage(relay, repeatGreeting),
        flags: { tokenDelivery: 'cms', provider: 'github' },
      });

      it('hands the token to the page that opened it', async () => {
        const tab = await openTab();
        await tab.open(site().frontEnd);
        const popup = await popupDuring(() => tab.click('button'));
        await authorize(popup, 'Ada Lovelace');
        await tab.shows('p', 'authorization:github:success:{"token":');
        await popup.shows('main', 'You are logged in there.');
        expect(await popup.url()).to.equal(site().callbackUrl);
      });
    });
  });
}
