import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import type { Page } from 'playwright-core';
import { needsChromium, screenshot, useBrowser } from '../../harness/browser/chromium.ts';
import { containerPage, documented, readmePage } from '../../harness/project/shipped-pages.ts';
import { useLoginSite } from '../../harness/relay/login-site.ts';
import { loggedIn, logIn, shows } from './support/client-page.ts';
import { useClientSite } from './support/site.ts';

const { describe } = needsChromium();

const plain = readFileSync(new URL('../../../examples/plain/index.html', import.meta.url), 'utf8');
const pages: Record<string, (relay: string) => string> = {
  'the README’s page': readmePage,
  'the container’s page': containerPage,
  plain: (relay) => plain.replaceAll('http://localhost:8000', relay),
};

for (const [name, pageFor] of Object.entries(pages)) {
  describe(`${name} in Chromium`, () => {
    const openPage = useBrowser();
    const site = useClientSite('tokens', (relay) => ({ '/': pageFor(relay) }));

    it('logs a person in, keeps the login over a reload, and logs out', async () => {
      const page = await openPage();
      const complaints: string[] = [];
      page.on('pageerror', ({ message }) => complaints.push(message));
      await page.goto(site().frontEnd);
      await shows(page, 'You are not logged in.');
      await logIn(page);
      expect(page.url()).to.equal(`${site().frontEnd}/`);
      await screenshot(page, `example-${name.replaceAll(/\W+/g, '-')}`);
      await page.reload();
      await loggedIn(page);
      await page.getByRole('button', { name: 'Log out' }).click();
      await shows(page, 'You are not logged in.');
      await page.reload();
      await shows(page, 'You are not logged in.');
      expect(complaints).to.deep.equal([]);
    });
  });
}

describe('the example plain', () => {
  it('has 15 lines at most about the login', () => {
    const code = plain.split(/<\/?script.*>/)[1];
    const lines = code?.split('\n').filter((line) => /^(?! *\/\*\*).*\S/.test(line)) ?? [];
    expect(lines.length).to.be.within(8, 15);
  });
});

describe('the documents', () => {
  const openPage = useBrowser();
  const site = useLoginSite({ frontEnd: readmePage });

  it('have an end-to-end test, which logs in at the demo’s provider', async () => {
    const page = await openPage();
    const test = documented('end-to-end.js', site().relay);
    const here = test.replace('http://localhost:5173', site().frontEnd);
    expect(here).to.not.equal(test);
    const run: (page: Page) => Promise<void> = new Function('page', `return (async () => {\n${here}})();`).bind(
      undefined,
    );
    await run(page);
    expect(page.url()).to.equal(`${site().frontEnd}/`);
  });
});
