import { readFile } from 'node:fs/promises';
import type { RequestListener } from 'node:http';
import { join } from 'node:path';
import { granted } from '../browser/fake-browser.ts';
import { projectRoot } from '../project/run.ts';
import { html, json } from '../provider/provider-behaviours.ts';
import { RefreshingProvider } from '../provider/refreshing-provider.ts';
import { type Serving, serveTls } from '../provider/serve.ts';
import { selfSignedCertificate } from '../system/certificate.ts';
import { startedOnce } from '../system/started-once.ts';
import { createRelayHere } from './relay-in-process.ts';
import { secretFile } from './relay-under-test.ts';

export type HostsOfSite = readonly [frontEnd: string, relay: string];

/** Two hosts of one site. */
const differentHosts: HostsOfSite = ['app.site.localhost', 'login.site.localhost'];

/** Says whether the browser has kept the page for the back button. */
const shown = `<p id="shown"></p><script>
  addEventListener('pageshow', ({ persisted }) => {
    document.querySelector('#shown').textContent = persisted ? 'kept' : 'loaded';
  });
</script>`;

/** The page of the browser client's tests. */
const pageFile = join(projectRoot, 'test/slow/front-end/pages/client.html');

/**
 * A page that gets no token, and a relay whose clock can be moved. Both use https, and are hosts of the same site. The
 * provider is another site, and accepts each refresh token once.
 */
export class SessionSite {
  readonly frontEnd: string;
  readonly relay: string;
  /** The page's server as another site. */
  readonly otherSite: string;
  readonly provider: RefreshingProvider;
  readonly #servings: readonly Serving[];
  #relayListener: RequestListener = (_, response) => response.destroy();
  #closeRelay = () => {};
  #clockOffset = 0;

  static async start(hosts: HostsOfSite): Promise<SessionSite> {
    const provider = await RefreshingProvider.start();
    const page = await readFile(pageFile, 'utf8');
    const certificate = await selfSignedCertificate(hosts[1]);
    const relay = await serveTls(certificate, (request, response) => site.#relayListener(request, response));
    const frontEnd = await serveTls(certificate, (request, response) => site.#answer(page)(request, response));
    const site = new SessionSite(hosts, provider, relay, frontEnd);
    await site.#startRelay();
    return site;
  }

  private constructor(
    [frontEndHost, relayHost]: HostsOfSite,
    provider: RefreshingProvider,
    relay: Serving,
    frontEnd: Serving,
  ) {
    this.provider = provider;
    this.relay = `https://${relayHost}:${relay.port}`;
    this.frontEnd = `https://${frontEndHost}:${frontEnd.port}`;
    this.otherSite = `https://elsewhere.localhost:${frontEnd.port}`;
    this.#servings = [relay, frontEnd];
  }

  /** How often the relay refreshed a session at the provider. */
  get refreshes(): number {
    return this.provider.credentials('refresh').length;
  }

  /** Moves the relay's clock. */
  advance(hours: number): void {
    this.#clockOffset += hours * 3_600_000;
  }

  /** Corrects the clock, and forgets the calls. @throws if a call was not as the specification says */
  forget(): void {
    const { provider } = this;
    this.#clockOffset = 0;
    provider.forget();
    provider.onUser = (response, { credential }) => {
      const known = provider.accepts(credential);
      json(known ? { name: 'Ada Lovelace' } : {}, known ? 200 : 401)(response);
    };
  }

  async close(): Promise<void> {
    this.#closeRelay();
    await Promise.all(this.#servings.map((serving) => serving.close()));
    await this.provider.stop();
  }

  async #startRelay(): Promise<void> {
    const { provider, relay, frontEnd } = this;
    provider.registration.redirectUri = `${relay}/auth/provider/callback`;
    provider.pages = {
      'GET /favicon.ico': html(404, ''),
      'GET /login/oauth/authorize': (response, { url }) => {
        const href = granted(provider, url).replaceAll('&', '&amp;');
        html(200, `<a id="continue" href="${href}">Continue</a>`)(response);
      },
    };
    const { clientId, clientSecret } = provider.registration;
    const { flags } = provider;
    const { listener, close } = await createRelayHere(
      {
        port: new URL(relay).port,
        baseUrl: relay,
        origin: frontEnd,
        clientId,
        clientSecret,
        tokenRequest: flags['token-request'],
        authorizeUrl: flags['authorize-url'],
        tokenUrl: flags['token-url'],
        userUrl: flags['user-url'],
        revocationUrl: flags['revocation-url'],
        tokenDelivery: 'session',
        keyFile: await secretFile('the-key-of-these-tests-and-no-others'),
      },
      undefined,
      () => Date.now() + this.#clockOffset,
    );
    this.#relayListener = listener;
    this.#closeRelay = close;
    this.forget();
  }

  /** The page, an empty page at `/elsewhere`, and the own cookie as text at `/cookie`. */
  #answer(page: string): RequestListener {
    const inSessionMode = (page + shown)
      .replaceAll('https://login.example.com', this.relay)
      .replace("clientId: 'app'", "clientId: 'app', mode: 'session'");
    return ({ url, headers }, response) => {
      if (url === '/cookie') {
        response.writeHead(200, {
          'Set-Cookie': 'third=party; Secure; SameSite=None',
          'Access-Control-Allow-Origin': headers.origin ?? '*',
          'Access-Control-Allow-Credentials': 'true',
        });
        response.end(headers.cookie ?? 'none');
        return;
      }
      response.writeHead(200, { 'Content-Type': 'text/html; charset=utf-8' });
      response.end(url === '/' ? inSessionMode : '<!doctype html><title>Elsewhere</title>');
    };
  }
}

/**
 * One site for the enclosing `describe`. It is reset before each test.
 *
 * @param hosts the browser must find them on this machine
 */
export function useSessionSite(hosts = differentHosts): () => SessionSite {
  const site = startedOnce(
    'the session site',
    () => SessionSite.start(hosts),
    (one) => one.close(),
  );
  beforeEach('forget what the test before did', () => site().forget());
  return site;
}
