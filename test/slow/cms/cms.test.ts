import { expect } from 'chai';
import type { Page } from 'playwright-core';
import { screenshot, useBrowser } from '../../harness/browser/chromium.ts';
import { eventually } from '../../harness/system/eventually.ts';
import { needs } from '../../harness/system/needs.ts';
import { type CmsName, type CmsSettings, type CmsSite, isInstalled, stayHere, useCmsSite } from './support/cms-site.ts';

const { describe } = needs('the packages of test/slow/cms (make test-slow)', isInstalled);

/** The button that logs in. */
const buttons: Readonly<Record<CmsName, RegExp>> = {
  'Decap CMS': /Login with Git(Hub|Lab)|Login with Bitbucket/,
  'Sveltia CMS': /Sign In with .*Git(Hub|Lab)/,
};

/** An event at the provider or the relay after the popup has opened, and the text that the CMS then shows. */
const failures: Readonly<Record<string, { readonly reason: RegExp; act(site: CmsSite, popup: Page): Promise<void> }>> =
  {
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

async function openPopup(page: Page, cms: CmsName): Promise<Page> {
  const opened = page.waitForEvent('popup');
  await page.getByRole('button', { name: buttons[cms] }).click();
  const popup = await opened;
  await popup.getByText('Authorize', { exact: true }).waitFor();
  return popup;
}

const post = (page: Page, title = 'Hello') => page.getByText(title, { exact: true });

/** Opens a post, and changes its title. */
async function editTitle(page: Page, from: string, to: string): Promise<void> {
  await post(page, from).click();
  await page.getByRole('textbox').first().fill(to);
}

/** The unsaved texts that Decap CMS keeps. It writes them two seconds after the last key. */
async function localBackups(page: Page): Promise<string> {
  return `${await page.evaluate(`new Promise((resolve, reject) => {
    indexedDB.open('localforage').onsuccess = ({ target: { result: database } }) => {
      const reading = database.transaction('keyvaluepairs').objectStore('keyvaluepairs').getAll();
      reading.onsuccess = () => resolve(JSON.stringify(reading.result));
      reading.onerror = reject;
    };
  })`)}`;
}

async function authorize(popup: Page): Promise<void> {
  await popup.getByText('Authorize', { exact: true }).click();
}

/** A CMS for the enclosing `describe`, and a function that opens its page, also in a given tab. */
function useCms(cms: CmsName, settings: CmsSettings = {}) {
  const openPage = useBrowser();
  const site = useCmsSite(cms, settings);
  const openAdmin = async (opened?: Page, address = site().admin): Promise<Page> => {
    const page = opened ?? (await openPage());
    await stayHere(page.context());
    await page.goto(address);
    return page;
  };
  return { site, openAdmin };
}

for (const cms of ['Decap CMS', 'Sveltia CMS'] as const) {
  describe(`${cms} as it is published`, () => {
    const { site, openAdmin } = useCms(cms);

    it('shows why a login failed, and its button works again each time', async () => {
      const page = await openAdmin();
      for (const [what, { reason, act }] of Object.entries(failures)) {
        const popup = await openPopup(page, cms);
        const closed = popup.waitForEvent('close');
        await act(site(), popup);
        await closed;
        await page.getByText(reason).waitFor();
        await screenshot(page, `${cms} if ${what}`);
        site().forget();
      }
      await (await openPopup(page, cms)).close();
      await authorize(await openPopup(page, cms));
      await post(page).waitFor();
    });

    it('logs in two tabs at once, and shows the posts', async () => {
      const first = await openAdmin();
      const second = await openAdmin(await first.context().newPage());
      const popups = [await openPopup(first, cms), await openPopup(second, cms)] as const;
      const addresses: string[] = [];
      popups[0].on('framenavigated', (frame) => addresses.push(frame.url()));
      await authorize(popups[1]);
      await post(second).waitFor();
      await authorize(popups[0]);
      await post(first).waitFor();
      expect(popups.map((popup) => popup.isClosed())).to.deep.equal([true, true]);
      await screenshot(first, `${cms} shows the posts`);

      expect(addresses.join()).to.contain('/auth/provider/callback');
      for (const token of site().github.tokens) {
        expect(addresses.join() + site().log).not.to.contain(token);
      }
    });
  });
}

for (const cms of ['Decap CMS', 'Sveltia CMS'] as const) {
  for (const addresses of ['two', 'any'] as const) {
    const which = addresses === 'two' ? 'two addresses' : 'an address of a pattern';
    describe(`${cms} with one config.yml at ${which}`, () => {
      const { site, openAdmin } = useCms(cms, { addresses });

      it('gets its token at each, and refreshes it there if it can', async () => {
        const configurations: string[] = [];
        for (const blog of [site().blog, site().otherBlog]) {
          site().github.tokensEnd = cms === 'Sveltia CMS';
          const page = await openAdmin(undefined, `${blog}/admin/`);
          configurations.push(`${await page.evaluate("fetch('config.yml').then((answer) => answer.text())")}`);
          await authorize(await openPopup(page, cms));
          await post(page).waitFor();
          if (cms !== 'Sveltia CMS') continue;
          const { github } = site();
          const before = github.refreshes;
          site().endTokens();
          await page.reload();
          await post(page).waitFor();
          expect(github.refreshes).to.be.greaterThan(before);
        }
        expect(new Set(configurations).size).to.equal(1);
        for (const token of site().github.tokens) expect(site().log).not.to.contain(token);
      });
    });
  }

  describe(`${cms} at an address that is not listed`, () => {
    const { site, openAdmin } = useCms(cms);

    it('gets no token, and its popup says where it would', async () => {
      const page = await openAdmin(undefined, `${site().otherBlog}/admin/`);
      const popup = await openPopup(page, cms);
      await authorize(popup);
      await popup.getByText(`the admin page is not at ${site().blog}`).waitFor();
      expect(await post(page).count()).to.equal(0);
      expect(site().github.calls).to.deep.equal([]);
    });
  });
}

describe('Sveltia CMS whose tokens end', () => {
  const { site, openAdmin } = useCms('Sveltia CMS');

  /** Logs in with tokens that end. Another popup would be another login. */
  async function logIn(): Promise<Page> {
    site().github.tokensEnd = true;
    const page = await openAdmin();
    await authorize(await openPopup(page, 'Sveltia CMS'));
    await post(page).waitFor();
    page.on('popup', () => expect.fail('it asks for a login'));
    return page;
  }

  it('goes on editing while two of them end', async () => {
    const page = await logIn();
    const { github } = site();
    for (const count of [1, 2]) {
      const title = `Hello ${count}`;
      await editTitle(page, count === 1 ? 'Hello' : `Hello ${count - 1}`, title);
      site().endTokens();
      const before = github.refreshes;
      await page.getByRole('button', { name: 'Save' }).first().click();
      await eventually(async () => expect(`${github.commits.at(-1)}`).to.include(title));
      expect(github.refreshes).to.be.greaterThan(before);
      // The editor closes a moment after the commit, and would otherwise close the next editor.
      await page.waitForURL(/\/collections\/posts$/);
    }
    for (const token of github.tokens) expect(site().log).not.to.contain(token);
  });

  it('makes one refresh at the provider if three tabs refresh at once', async () => {
    const page = await logIn();
    const { github } = site();
    await page.goto('about:blank');
    const tabs = await Promise.all(Array.from({ length: 3 }, () => page.context().newPage()));
    site().endTokens();
    const refreshes = () => site().log.match(/"grant":"refresh_token"/g)?.length ?? 0;
    const before = { provider: github.refreshes, relay: refreshes() };
    const ended = github.refusals;
    // No tab gets the next token before all tabs have noticed the end of the present token.
    github.patience = eventually(async () => {
      expect(github.refusals).to.equal(ended + tabs.length);
    });
    await Promise.all(tabs.map((tab) => tab.goto(site().admin)));
    await Promise.all(tabs.map((tab) => post(tab).waitFor()));
    expect(github.refreshes).to.equal(before.provider + 1);
    expect(refreshes()).to.equal(before.relay + tabs.length);
  });
});

describe('Decap CMS whose token ends', () => {
  const { site, openAdmin } = useCms('Decap CMS');

  it('refuses to save, and offers the text after a reload and a login', async () => {
    const page = await openAdmin();
    await authorize(await openPopup(page, 'Decap CMS'));
    await editTitle(page, 'Hello', 'Hello 2');
    site().endTokens();
    await page.getByText('Publish', { exact: true }).first().click();
    await page.getByText('Publish now').first().click();
    await page.getByText('Bad credentials').waitFor();
    await screenshot(page, 'Decap CMS says that the token has ended');
    await eventually(async () => expect(await localBackups(page)).to.include('Hello 2'));

    const offers: string[] = [];
    page.on('dialog', async (dialog) => {
      offers.push(dialog.message());
      await dialog.accept();
    });
    await page.reload();
    await authorize(await openPopup(page, 'Decap CMS'));
    await eventually(async () => expect(offers.join()).to.match(/local backup was recovered/));
  });
});

for (const [cms, backend, scope] of [
  ['Decap CMS', 'gitlab', 'api'],
  ['Decap CMS', 'bitbucket', 'account repository:write'],
  ['Sveltia CMS', 'gitlab', 'api'],
] as const) {
  describe(`${cms} with the backend ${backend}`, () => {
    const { site, openAdmin } = useCms(cms, { backend });

    it('uses the API with the token of the login', async () => {
      const page = await openAdmin();
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
