// A script of an application behind a door begins a login of its author in the same tab, makes its end fail, and waits until
// the person goes back.

import { expect } from 'chai';
import { DoorProcesses } from '../../browsers/support/door-processes.ts';
import { DoorBrowser } from '../../browsers/support/door-relay.ts';
import { useBrowser } from '../../harness/browser/chromium.ts';
import { html } from '../../harness/provider/provider-behaviours.ts';
import { type Serving, serve } from '../../harness/provider/serve.ts';
import { freePort } from '../../harness/system/free-port.ts';
import { needsPrograms } from '../../harness/system/needs.ts';
import { Balancer, type BalancerKind } from '../deploy/support/balancer.ts';
import { browserGuards } from '../deploy/support/kinds.ts';

/** The addresses of the tab's history, as far as a script may see them. */
const history = 'navigation.entries().map(({ url }) => String(url))';
const fill = (count: number) => `for (let index = 0; index < ${count}; index += 1) {
  document.cookie = 'large' + index + '=' + 'x'.repeat(3900) + '; path=/.login-relay/callback';
}`;

let application: Serving;
// HAProxy refuses such requests by a page that no setting changes.
const { haproxy: _, ...guards } = browserGuards(() => application.port);
const proxies: readonly (readonly [string, BalancerKind | undefined])[] = [
  ['the relay alone', undefined],
  ...Object.entries(guards),
];
for (const [name, kind] of proxies) {
  const { describe } = needsPrograms(...(kind === undefined ? [] : [kind.program]));

  describe(`the code of a login that fails in a tab of ${name}`, () => {
    const openPage = useBrowser();
    let relay: DoorProcesses;
    let proxy: Balancer | undefined;

    before('start them', async () => {
      application = await serve((_, response) => html(200, '<h1>Wiki</h1>')(response));
      const port = await freePort();
      proxy = kind && (await Balancer.start(kind, [port]));
      relay = await DoorProcesses.start({
        address: `http://127.0.0.1:${port}`,
        wiki: proxy === undefined ? `http://wiki.localhost:${port}` : `https://wiki.localhost:${proxy.tlsPort}`,
        ports: [port],
        resource: proxy === undefined ? `, upstream: 'http://127.0.0.1:${application.port}/'` : '',
      });
    });
    after('stop them', async () => {
      await proxy?.stop();
      await Promise.all([relay.stop(), application.close()]);
    });

    // 78 and 234 KB, which are more than the 64 KB that the relay accepts.
    for (const count of [20, 60]) {
      it(`is shown to no script after Back, with ${count} large cookies`, async () => {
        const port = proxy?.port ?? relay.port;
        const author = new DoorBrowser(relay, port);
        const { location = '' } = (await author.open(`${relay.wiki}/`)).headers;
        const page = await openPage({ ignoreHTTPSErrors: true });
        await page.goto(`${relay.wiki}/`);
        await page.textContent('h1');
        await page.evaluate(fill(count));
        await page.evaluate(`void setTimeout(() => { location.href = ${JSON.stringify(location)}; })`);
        await page.waitForURL(/callback[?]code=/, { waitUntil: 'commit' });
        const callback = page.url();
        await page.waitForTimeout(300);
        await page.goBack({ waitUntil: 'commit' });
        await page.waitForURL(`${relay.wiki}/`);
        expect(await page.evaluate(history)).to.deep.equal([`${relay.wiki}/`, 'null']);
        expect(callback).to.include('code=lr1_');
      });
    }
  });
}
