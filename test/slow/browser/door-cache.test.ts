import { expect } from 'chai';
import { ada } from '../../browsers/support/door-relay.ts';
import { startWikiSite } from '../../browsers/support/wiki-site.ts';
import { useBrowser } from '../../harness/browser/chromium.ts';
import { json } from '../../harness/provider/provider-behaviours.ts';
import { serve } from '../../harness/provider/serve.ts';

const hour = 3_600_000;

describe('pages of a person in the cache of a browser', () => {
  const openPage = useBrowser();

  it('are shown again to the same person, and never to another person who logs in', async () => {
    const asked: string[] = [];
    const application = await serve(({ url = '', headers }, response) => {
      asked.push(url);
      response.setHeader('Cache-Control', 'private, max-age=86400');
      response.setHeader('Content-Type', 'text/html');
      response.end(`<h1>${headers['x-forwarded-preferred-username']}</h1><a id="notes" href="/notes">Notes</a>`);
    });
    const { relay, wiki } = await startWikiSite(application.port);
    const page = await openPage();
    const notes = async () => {
      await page.click('#notes');
      await page.waitForURL(`${wiki}/notes`);
      return await page.textContent('h1');
    };
    await page.goto(`${wiki}/`);
    expect(await notes()).to.equal('ada');
    const before = asked.length;
    // The same person logs in again, because the login is due for renewal.
    relay.ahead = 2 * hour;
    await page.goto(`${wiki}/second`);
    expect(await notes()).to.equal('ada');
    expect(asked.slice(before)).to.deep.equal(['/second']);
    relay.provider.knows(json({ ...ada, sub: '43', preferred_username: 'grace' }));
    relay.ahead = 4 * hour;
    await page.goto(`${wiki}/third`);
    expect(await page.textContent('h1')).to.equal('grace');
    expect(await notes()).to.equal('grace');
    await Promise.all([relay.stop(), application.close()]);
  });
});
