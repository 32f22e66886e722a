// Pages of an application that would keep a browser from the login: they allow their forms only their own origin, or
// have a service worker.

import { expect } from 'chai';
import type { DoorRelay } from '../../browsers/support/door-relay.ts';
import { startWikiSite } from '../../browsers/support/wiki-site.ts';
import { type Serving, serve } from '../../harness/provider/serve.ts';
import { type Tab, until } from './engine.ts';
import { engines, useEngine } from './engines.ts';

const minute = 60_000;
/** When a login is due for renewal, and when it is over. */
const renewal = 61 * minute;
const end = 13 * 60 * minute;

const page = (url: string) => `<!doctype html><title>Wiki</title><h1>Wiki at ${url}</h1>
<form method="post" action="/save"><button id="save">Save</button></form>
<form action="/search"><button id="search" name="q" value="x">Search</button></form>
<a id="link" href="/notes#part">A link</a>
<button id="popup" onclick="window.open('/popup')">A window</button>`;

/** Gets each page from the network, as a worker does that keeps pages for times without a network. */
const worker = `self.addEventListener('install', () => self.skipWaiting());
self.addEventListener('activate', (event) => event.waitUntil(clients.claim()));
self.addEventListener('fetch', (event) => {
  if (event.request.mode === 'navigate') event.respondWith(fetch(event.request));
});`;

for (const engine of engines) {
  describe(`an application behind the relay in ${engine.name}`, () => {
    const { openTab, popup } = useEngine(engine);
    let application: Serving;
    let relay: DoorRelay;
    let wiki: string;
    /** How often the application accepted a form. */
    let saved = 0;

    before('start them', async () => {
      application = await serve(({ method, url = '' }, response) => {
        if (method === 'POST') {
          saved += 1;
          response.writeHead(303, { Location: '/saved' }).end();
        } else if (url === '/worker.js') {
          response.setHeader('Content-Type', 'text/javascript').end(worker);
        } else {
          response.writeHead(200, { 'Content-Type': 'text/html', 'Content-Security-Policy': "form-action 'self'" });
          response.end(page(url));
        }
      });
      ({ relay, wiki } = await startWikiSite(application.port));
    });
    beforeEach(() => {
      relay.ahead = 0;
      saved = 0;
    });
    after('stop them', async () => {
      await Promise.all([relay.stop(), application.close()]);
    });

    async function opened(): Promise<Tab> {
      const tab = await openTab();
      await tab.open(`${wiki}/`);
      await tab.shows('h1', 'Wiki at /');
      return tab;
    }

    it('shows the page after a form, although the login is renewed in between', async () => {
      const tab = await opened();
      relay.ahead = renewal;
      await tab.click('#save');
      await tab.shows('h1', 'Wiki at /saved');
      expect(saved).to.equal(1);
    });

    it('shows the answer of a search, although the login is over', async () => {
      const tab = await opened();
      relay.ahead = end;
      await tab.click('#search');
      await tab.shows('h1', 'Wiki at /search?q=x');
    });

    for (const [what, ahead] of Object.entries({ 'a renewal': renewal, 'the end of the login': end })) {
      it(`opens the linked part of a page after ${what}`, async () => {
        const tab = await opened();
        relay.ahead = ahead;
        await tab.click('#link');
        await tab.shows('h1', 'Wiki at /notes');
        expect(await tab.url()).to.equal(`${wiki}/notes#part`);
      });
    }

    it('opens a window that keeps its opener, although the login is due for renewal', async () => {
      const tab = await opened();
      relay.ahead = renewal;
      const window = await popup(() => tab.click('#popup'));
      await window.shows('h1', 'Wiki at /popup');
      expect(await window.value('opener !== null')).to.equal(true);
      const starts = () => relay.lines.filter(({ msg, action }) => msg === 'request' && action === 'start').length;
      const before = starts();
      // The renewal takes place ten minutes later, at the next page.
      relay.ahead = renewal + 11 * minute;
      await tab.click('#link');
      await tab.shows('h1', 'Wiki at /notes');
      expect(starts()).to.equal(before + 1);
    });

    it('logs in again if its service worker gets the pages', async () => {
      const tab = await opened();
      await tab.value(`navigator.serviceWorker.register('/worker.js')`).catch(() => {});
      await until('the worker is in control', async () =>
        Boolean(await tab.value('navigator.serviceWorker.controller !== null')),
      );
      relay.ahead = end;
      await tab.click('#link');
      await tab.shows('h1', 'Wiki at /notes');
    });
  });
}
