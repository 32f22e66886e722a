// In this attack, a script in an application behind a door tries to read the code of a login that the attacker has
// begun in another browser.

import { expect } from 'chai';
import { startWikiSite } from '../../browsers/support/wiki-site.ts';
import { useBrowser } from '../../harness/browser/chromium.ts';
import { html } from '../../harness/provider/provider-behaviours.ts';
import { serve } from '../../harness/provider/serve.ts';

/** The script of the attack. It returns the address of the window, or `nothing` if the window closes before. */
const steal = (start: string) => `(async () => {
  for (let index = 0; index < 20; index += 1) {
    document.cookie = 'large' + index + '=' + 'x'.repeat(4000) + '; path=/.login-relay/callback';
  }
  const opened = open(${JSON.stringify(start)});
  for (;;) {
    await new Promise((resolve) => setTimeout(resolve, 50));
    if (opened.closed) return 'nothing';
    try {
      if (opened.location.href.includes('code=')) return opened.location.href;
    } catch {
      // It is at another host.
    }
  }
})()`;

describe('a login of a door in a window that a script has opened', () => {
  const openPage = useBrowser();

  it('shows the script no code, even if the callback is too large to be read', async () => {
    const application = await serve((_, response) => html(200, '<h1>Wiki</h1>')(response));
    const { relay, wiki } = await startWikiSite(application.port);
    const { location = '' } = (await relay.person(relay.port).open(`${wiki}/`)).headers;
    const page = await openPage();
    await page.goto(`${wiki}/`);
    const seen = await page.evaluate(steal(location));
    expect(seen).to.equal('nothing');
    await Promise.all([relay.stop(), application.close()]);
  });
});
