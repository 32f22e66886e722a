import { expect } from 'chai';
import { needsChromium, useBrowser } from '../../harness/browser/chromium.ts';
import { documented, documentedConfig } from '../../harness/project/shipped-pages.ts';
import { loggedIn, logIn, shows } from './support/client-page.ts';
import { useSite } from './support/site.ts';

const { describe } = needsChromium();

const html = `<!doctype html>
<link rel="icon" href="data:,">
<title>Front end</title>
<button type="button">Log in</button>
<p role="status"></p>
<script type="module">
  import { login } from './both.js';

  document.querySelector('button').onclick = () => login.login();
  login.onChange(async () => {
    const user = await login.user();
    document.querySelector('p').textContent = user ? 'Hello, ' + user.name : 'Nobody';
  });
</script>
`;

describe('the page that docs/front-end.md begins with, in Chromium', () => {
  const openPage = useBrowser();
  const site = useSite({ pages: (relay) => ({ '/': documented('page.html', relay) }) });

  it('greets who has logged in, and logs out', async () => {
    const tab = await openPage();
    await tab.goto(site().frontEnd);
    await logIn(tab);
    await tab.getByRole('button', { name: 'Log out' }).click();
    await tab.getByRole('button', { name: 'Log in' }).waitFor();
    expect(await tab.locator('p').textContent()).to.equal('You are not logged in.');
  });
});

describe('one source for production and development, as docs/front-end.md shows it, in Chromium', () => {
  const openPage = useBrowser();
  const site = useSite({
    pages: (relay) => ({ '/': html, '/both.js': documented('both.js', relay) }),
    frontEnds: (production) => documentedConfig().replace('https://app.example.com', production),
  });

  for (const [where, host, clientId] of [
    ['production', 'front-end.localhost', 'app'],
    ['development', 'localhost', 'development'],
  ] as const) {
    it(`logs in at ${where}, and stays logged in over a reload`, async () => {
      const tab = await openPage();
      const start = tab.waitForRequest((one) => /\/auth\/provider\?/.test(one.url()));
      const url = site().frontEnd.replace('front-end.localhost', host);
      await tab.goto(url);
      await shows(tab, 'Nobody');
      await logIn(tab);
      const { searchParams } = new URL((await start).url());
      expect(searchParams.get('client_id')).to.equal(clientId);
      expect(tab.url()).to.equal(`${url}/`);
      await tab.reload();
      await loggedIn(tab);
    });
  }
});
