import { expect } from 'chai';
import { ada, DoorRelay } from '../../browsers/support/door-relay.ts';
import { useBrowser } from '../../harness/browser/chromium.ts';
import { granted } from '../../harness/browser/fake-browser.ts';
import { json, redirect } from '../../harness/provider/provider-behaviours.ts';
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
    const relay = await DoorRelay.listen();
    const { provider } = relay;
    const wiki = `http://wiki.localhost:${relay.port}`;
    await relay.restart({
      here: true,
      relay: `resources:\n  wiki: { url: '${wiki}/', upstream: 'http://127.0.0.1:${application.port}/', browser: true }\n`,
      frontEnds: '  app: { origin: https://app.example, token-delivery: code, resources: [wiki] }\n',
    });
    provider.knows(json(ada));
    provider.pages = {
      [new URL(provider.authorizeUrl).pathname]: (response, { url }) => redirect(granted(provider, url))(response),
    };
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
    provider.knows(json({ ...ada, sub: '43', preferred_username: 'grace' }));
    relay.ahead = 4 * hour;
    await page.goto(`${wiki}/third`);
    expect(await page.textContent('h1')).to.equal('grace');
    expect(await notes()).to.equal('grace');
    await Promise.all([relay.stop(), application.close()]);
  });
});
