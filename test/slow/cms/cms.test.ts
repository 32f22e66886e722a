import { expect } from 'chai';
import type { Page } from 'playwright-core';
import { screenshot, useBrowser } from '../../harness/browser/chromium.ts';
import { eventually } from '../../harness/system/eventually.ts';
import { needs } from '../../harness/system/needs.ts';
import {
  type CmsName,
  type CmsSite,
  isInstalled,
  stayHere,
  useCmsSite,
} from './support/cms-site.ts';

const { describe } = needs('the packages of test/slow/cms (make test-slow)', isInstalled);

/** The button that logs in. */
const buttons: Readonly<Record<CmsName, RegExp>> = {
  'Decap CMS': /Login with Git(Hub|Lab)|Login with Bitbucket/,
  'Sveltia CMS': /Sign In with .*Git(Hub|Lab)/,
};

/** What happens at the provider or the relay after the popup has opened, and what the CMS shows. */
const failures: Readonly<
  Record<string, { readonly reason: RegExp; act(site: CmsSite, popup: Page): Promise<void> }>
> = {
  'the person cancels': {
    reason: /cancelled or denied at the provider/,
    act: async (_, popup) => await popup.getByText('Cancel', { exact: true }).click(),
  },
  'the provider refuses the code': {
    reason: /refused the authorization code/,
    async act({ github }, popup) {
      github.tokenEndpoint = 'refuses';
      await authorize(popup);
    },
  },
  'the provider is down': {
    reason: /could not be reached/,
    async act({ github }, popup) {
      github.tokenEndpoint = 'down';
      await authorize(popup);
    },
  },
  'the login takes too long': {
    reason: /longer than ten minutes/,
    async act(site, popup) {
      site.advance(11);
      await authorize(popup);
    },
  },
};

async function authorize(popup: Page): Promise<void> {
  await popup.getByText('Authorize', { exact: true }).click();
}

for (const cms of ['Decap CMS', 'Sveltia CMS'] as const) {
  describe(`${cms} as it is published`, () => {
    const openPage = useBrowser();
    const site = useCmsSite(cms);

    async function openAdmin(opened?: Page): Promise<Page> {
      const page = opened ?? (await openPage());
      await stayHere(page.context());
      await page.goto(site().admin);
      return page;
    }

    async function openPopup(page: Page): Promise<Page> {
      const opened = page.waitForEvent('popup');
      await page.getByRole('button', { name: buttons[cms] }).click();
      const popup = await opened;
      await popup.getByText('Authorize', { exact: true }).waitFor();
      return popup;
    }

    const posts = (page: Page) => page.getByText('Hello', { exact: true });

    it('logs in, and shows the posts', async function () {
      this.timeout('60s');
      const page = await openAdmin();
      const popup = await openPopup(page);
      const addresses: string[] = [];
      popup.on('framenavigated', (frame) => addresses.push(frame.url()));
      await authorize(popup);
      await posts(page).waitFor();
      expect(popup.isClosed()).to.equal(true);
      await screenshot(page, `${cms} shows the posts`);

      const [token = 'none'] = site().github.tokens;
      expect(addresses.join(' ')).to.contain('/auth/provider/callback').and.not.to.contain(token);
      expect(site().log).not.to.contain(token);
    });

    it('shows why a login failed, and its button works again each time', async function () {
      this.timeout('60s');
      const page = await openAdmin();
      for (const [what, { reason, act }] of Object.entries(failures)) {
        const popup = await openPopup(page);
        const closed = popup.waitForEvent('close');
        await act(site(), popup);
        await closed;
        await page.getByText(reason).waitFor();
        await screenshot(page, `${cms} if ${what}`);
        site().forget();
      }
      await (await openPopup(page)).close();
      await authorize(await openPopup(page));
      await posts(page).waitFor();
    });

    it('logs in two tabs at once', async function () {
      this.timeout('60s');
      const first = await openAdmin();
      const second = await openAdmin(await first.context().newPage());
      const popups = [await openPopup(first), await openPopup(second)] as const;
      await authorize(popups[1]);
      await posts(second).waitFor();
      await authorize(popups[0]);
      await posts(first).waitFor();
    });
  });
}

for (const [cms, backend, scope] of [
  ['Decap CMS', 'gitlab', 'api'],
  ['Decap CMS', 'bitbucket', 'account repository:write'],
  ['Sveltia CMS', 'gitlab', 'api'],
] as const) {
  describe(`${cms} with the backend ${backend}`, () => {
    const openPage = useBrowser();
    const site = useCmsSite(cms, backend);

    it('uses the API with the token of the login', async () => {
      const page = await openPage();
      await stayHere(page.context());
      await page.goto(site().admin);
      const opened = page.waitForEvent('popup');
      await page.getByRole('button', { name: buttons[cms] }).click();
      const popup = await opened;
      const closed = popup.waitForEvent('close');
      await authorize(popup);
      await closed;
      const { github } = site();
      // Without the token of the login, the API keeps no call.
      await eventually(async () => expect(github.calls).not.to.deep.equal([]));
      expect(github.scopes).to.deep.equal([scope]);
    });
  });
}
