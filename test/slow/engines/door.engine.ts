// People open a resource behind a real proxy, and the login is at another host.

import { expect } from 'chai';
import { ada, DoorRelay } from '../../browsers/support/door-relay.ts';
import { granted } from '../../harness/browser/fake-browser.ts';
import { html, json, redirect } from '../../harness/provider/provider-behaviours.ts';
import { type Serving, serve } from '../../harness/provider/serve.ts';
import { Balancer } from '../deploy/support/balancer.ts';
import { browserGuards } from '../deploy/support/kinds.ts';
import type { Tab } from './engine.ts';
import { engines, useEngine } from './engines.ts';

const page = (user: string, url: string) => `<!doctype html><title>Wiki</title>
<h1>${user} at ${url}</h1>
<form method="post" action="/form"><input name="text" value="words"><button id="send">Send</button></form>
<a id="out" href="/.login-relay/logout">Log out</a>`;

/** A page of another site, which sends a form to the resource and shows it in a frame. */
const foreignPage = (wiki: string) => `<!doctype html><title>Elsewhere</title><h1>Elsewhere</h1>
<form method="post" action="${wiki}/form"><input name="text" value="foreign"><button id="send">Send</button></form>
<a id="link" href="${wiki}/linked">A link</a>
<iframe id="frame" src="${wiki}/framed"></iframe>`;

let application: Serving;
const kinds = browserGuards(() => application.port);

for (const engine of engines) {
  for (const proxyName of engine.name === 'Chromium' ? (['nginx', 'caddy'] as const) : (['nginx'] as const)) {
    describe(`a resource behind ${proxyName} in ${engine.name}`, () => {
      const { openTab } = useEngine(engine);
      const kind = kinds[proxyName];
      let relay: DoorRelay;
      let proxy: Balancer;
      let wiki: string;
      /** The requests to the application: method, address, and the text of a form. */
      const got: string[] = [];
      /** How often the provider was asked. */
      let logins = 0;

      before('start them', async () => {
        if (kind === undefined) throw new Error('no such proxy');
        relay = await DoorRelay.listen();
        application = await serve((request, response) => {
          let body = '';
          request.setEncoding('utf8').on('data', (text: string) => {
            body += text;
          });
          request.on('end', () => {
            const { method, url = '', headers } = request;
            if (url !== '/favicon.ico') got.push([method, url, body].join(' ').trim());
            const shown = String(headers['x-forwarded-preferred-username']);
            response.setHeader('Content-Type', 'text/html').end(page(shown, url));
          });
        });
        proxy = await Balancer.start(kind, [relay.port]);
        wiki = `https://wiki.localhost:${proxy.tlsPort}`;
        await relay.restart({
          here: true,
          relay: `trusted-proxies: [127.0.0.1]\nresources:\n  wiki: { url: '${wiki}/', browser: true }\n`,
          frontEnds: '  app: { origin: https://app.example, token-delivery: code, resources: [wiki] }\n',
        });
        const { provider } = relay;
        provider.knows(json(ada));
        provider.pages = {
          [new URL(provider.authorizeUrl).pathname]: (response, { url }) => {
            logins += 1;
            redirect(granted(provider, url))(response);
          },
          '/favicon.ico': html(404, ''),
          '/elsewhere': html(200, foreignPage(wiki)),
        };
      });
      beforeEach(() => {
        got.length = 0;
        logins = 0;
      });
      after('stop them', async () => {
        await proxy.stop();
        await Promise.all([relay.stop(), application.close()]);
      });

      async function opened(path: string): Promise<Tab> {
        const tab = await openTab();
        await tab.open(wiki + path);
        await tab.shows('h1', `ada at ${path}`);
        return tab;
      }

      it('opens after one login, at the page that was asked for, and stays open', async () => {
        const tab = await opened('/notes/a?b=c%20d');
        expect(await tab.url()).to.equal(`${wiki}/notes/a?b=c%20d`);
        await tab.open(`${wiki}/other`);
        await tab.shows('h1', 'ada at /other');
        expect(logins).to.equal(1);
        expect(await tab.value('document.cookie')).to.equal('');
      });

      // The driver of WebKitGTK has one tab in front at a time.
      if (engine.name !== 'WebKitGTK')
        it('opens in ten tabs at once, each at its own page', async () => {
          const tabs = await Promise.all(Array.from({ length: 10 }, () => openTab()));
          await Promise.all(
            tabs.map(async (tab, at) => {
              await tab.open(`${wiki}/tab/${at}`);
              await tab.shows('h1', `ada at /tab/${at}`);
            }),
          );
          expect(logins).to.be.within(1, 10);
        });

      it('accepts a form of its own page, and no form of another site, which may only link to it', async () => {
        const tab = await opened('/');
        await tab.click('#send');
        await tab.shows('h1', 'ada at /form');
        expect(got).to.deep.equal(['GET /', 'POST /form text=words']);
        const elsewhere = `http://127.0.0.1:${new URL(relay.provider.origin).port}/elsewhere`;
        await tab.open(elsewhere);
        await tab.click('#send');
        await tab.arrives(`${wiki}/form`);
        // The browser sends no cookie with it.
        await tab.shows('h1', 'Sent from another site');
        expect(got).to.deep.equal(['GET /', 'POST /form text=words']);
        await tab.open(elsewhere);
        await tab.click('#link');
        await tab.shows('h1', 'ada at /linked');
        // Nothing of the frame has come, though the browser may have sent its cookie.
        expect(got.at(-1)).to.equal('GET /linked');
        expect(got).not.to.include('GET /framed');
      });

      it('is closed after a logout in another tab', async () => {
        const first = await opened('/first');
        const second = await opened('/second');
        await second.click('#out');
        await second.shows('h1', 'Log out');
        await second.click('form button');
        await second.shows('h1', 'logged out');
        // The provider knows the person, so that the next page of the resource is one login later.
        logins = 0;
        await first.open(`${wiki}/third`);
        await first.shows('h1', 'ada at /third');
        expect(logins).to.equal(1);
      });
    });
  }
}
