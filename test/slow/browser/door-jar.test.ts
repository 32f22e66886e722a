// An application fills the browser's cookie jar. Chromium keeps 180 cookies of a site, and then drops the oldest.

import { expect } from 'chai';
import { DoorProcesses } from '../../browsers/support/door-processes.ts';
import { useBrowser } from '../../harness/browser/chromium.ts';
import { html } from '../../harness/provider/provider-behaviours.ts';
import { serve } from '../../harness/provider/serve.ts';
import { freePort } from '../../harness/system/free-port.ts';

/**
 * A script that sets so many cookies, each of some bytes. Chromium stores them while the script goes on. It reads them
 * in the end, so that Chromium has stored them all before the next page begins a login, whose cookie they would displace.
 */
const fill = (count: number, name: string) => `for (let index = 0; index < ${count}; index += 1) {
  document.cookie = '${name}' + index + '=' + 'x'.repeat(20);
}
document.cookie.length`;

describe('a browser whose jar an application has filled', () => {
  const openPage = useBrowser();

  it('logs in, and whenever it forgets the cookie, it logs in again or gets a page that says so, but never loops', async () => {
    const application = await serve(({ url }, response) => html(200, `<h1>Wiki</h1><p>${url}</p>`)(response));
    const port = await freePort();
    const wiki = `http://wiki.localhost:${port}`;
    const relay = await DoorProcesses.start({
      address: `http://127.0.0.1:${port}`,
      wiki,
      ports: [port],
      resource: `, upstream: 'http://127.0.0.1:${application.port}/'`,
    });
    const page = await openPage();
    let starts = 0;
    page.on('request', (request) => {
      if (request.url().includes('/door/wiki')) starts += 1;
    });
    await page.goto(`${wiki}/first`);
    expect(await page.textContent('h1')).to.equal('Wiki');
    for (const [index, count] of [178, 181, 400].entries()) {
      await page.evaluate(fill(count, `of${index}_`));
      const before = starts;
      await page.goto(`${wiki}/page/${index}`);
      expect(starts - before, `${count}`).to.be.at.most(1);
      expect(await page.textContent('h1'), `${count}`).to.be.oneOf(['Wiki', 'The cookie is missing']);
      const link = await page.$('nav a');
      if (link === null) continue;
      await link.click();
      await page.waitForSelector('p');
      expect(await page.textContent('h1')).to.equal('Wiki');
    }
    // With a full jar from the beginning, too.
    await page.context().clearCookies({ name: /^lr_/ });
    await page.evaluate(fill(180, 'again'));
    await page.goto(`${wiki}/last`);
    expect(await page.textContent('p')).to.equal('/last');
    await Promise.all([relay.stop(), application.close()]);
  });
});
