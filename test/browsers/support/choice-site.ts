import { granted } from '../../harness/browser/fake-browser.ts';
import { html, json, redirect } from '../../harness/provider/provider-behaviours.ts';
import { serve } from '../../harness/provider/serve.ts';
import { ada } from './door-relay.ts';
import { eve, ProvidersRelay, type Wiki } from './providers-relay.ts';

/** An application behind the relay, at two providers, on this machine. */
export interface ChoiceSite {
  readonly relay: ProvidersRelay;
  /** The origin of the application. */
  readonly wiki: string;
  /** How often each provider was asked. */
  readonly asked: { provider: number; second: number };
  /** Uses other settings. */
  configure(changes?: Wiki): Promise<void>;
  stop(): Promise<void>;
}

/** Starts a site for real browsers. The first provider shows a page with a link, the second one lets everybody in at once. */
export async function startChoiceSite(): Promise<ChoiceSite> {
  const application = await serve((request, response) => {
    const user = `${request.headers['x-forwarded-user']}`;
    html(200, `<h1>${user} at ${request.url}</h1><a id="out" href="/.login-relay/logout">Log out</a>`)(response);
  });
  const relay = await ProvidersRelay.start();
  const wiki = `http://wiki.localhost:${relay.port}`;
  const asked = { provider: 0, second: 0 };
  relay.provider.knows(json(ada));
  relay.second.knows(json(eve));
  const path = (url: string) => new URL(url).pathname;
  relay.provider.pages = {
    [path(relay.provider.authorizeUrl)]: (response, { url }) => {
      asked.provider += 1;
      const link = granted(relay.provider, url).replaceAll('&', '&amp;');
      html(200, `<h1>The first provider</h1><a id="in" href="${link}">Let me in</a>`)(response);
    },
    '/favicon.ico': html(404, ''),
  };
  relay.second.pages = {
    [path(relay.second.authorizeUrl)]: (response, { url }) => {
      asked.second += 1;
      redirect(granted(relay.second, url))(response);
    },
    '/favicon.ico': html(404, ''),
  };
  const site: ChoiceSite = {
    relay,
    wiki,
    asked,
    async configure({ more = '', ...changes } = {}) {
      asked.provider = 0;
      asked.second = 0;
      const upstream = `upstream: 'http://127.0.0.1:${application.port}/'`;
      await relay.restart(relay.file({ url: `${wiki}/`, ...changes, more: more ? `${upstream}, ${more}` : upstream }));
    },
    async stop() {
      await Promise.all([relay.stop(), application.close()]);
    },
  };
  await site.configure();
  return site;
}
