// A script of an application behind a door wants the code of a login that its author has begun in another browser.

import { expect } from 'chai';
import { ada, DoorRelay } from '../../browsers/support/door-relay.ts';
import { useBrowser } from '../../harness/browser/chromium.ts';
import { granted } from '../../harness/browser/fake-browser.ts';
import { html, json, redirect } from '../../harness/provider/provider-behaviours.ts';
import { serve } from '../../harness/provider/serve.ts';

/** What the script does. It ends with the address of the window, or once the window is out of its sight. */
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

  it('shows the script no code, also if the callback is too large to be read', async () => {
    const application = await serve((_, response) => html(200, '<h1>Wiki</h1>')(response));
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
    const { location = '' } = (await relay.person(relay.port).open(`${wiki}/`)).headers;
    const page = await openPage();
    await page.goto(`${wiki}/`);
    const seen = await page.evaluate(steal(location));
    expect(seen).to.equal('nothing');
    await Promise.all([relay.stop(), application.close()]);
  });
});
