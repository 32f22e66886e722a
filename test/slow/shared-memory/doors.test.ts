// Three relays as in deploy, behind HAProxy for logins, and nginx or HAProxy for the application: people have opened it with
// their browsers, and a relay is killed.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { DoorProcesses } from '../../browsers/support/door-processes.ts';
import { DoorBrowser, fetching } from '../../browsers/support/door-relay.ts';
import { useBrowser } from '../../harness/browser/chromium.ts';
import { granted, navigationWith } from '../../harness/browser/fake-browser.ts';
import { request } from '../../harness/client/request.ts';
import { projectRoot } from '../../harness/project/run.ts';
import { type Serving, serve } from '../../harness/provider/serve.ts';
import type { Relay } from '../../harness/relay/relay.ts';
import { eventually } from '../../harness/system/eventually.ts';
import { freePort } from '../../harness/system/free-port.ts';
import { MemoryServer, memoryProgram } from '../../harness/system/memory-server.ts';
import { needsPrograms } from '../../harness/system/needs.ts';
import { Balancer, type BalancerKind, type Site } from '../deploy/support/balancer.ts';
import { browserGuards, kinds } from '../deploy/support/kinds.ts';

const { describe } = needsPrograms(memoryProgram, 'haproxy', 'nginx');

/** The templates for one relay, edited for several as they say. */
const ofSeveral: Readonly<Record<'nginx' | 'haproxy', (kind: BalancerKind, frontend: number) => BalancerKind>> = {
  nginx: (kind) => ({
    ...kind,
    replacements: (site) => {
      const servers = site.relayPorts.map((port) => `  server 127.0.0.1:${port} max_fails=1 fail_timeout=2s;\n`);
      return [
        ['  server 127.0.0.1:8000;\n', `  zone wiki_relay 64k;\n${servers.join('')}`],
        ...unlessOfRelay(kind, site),
      ];
    },
  }),
  haproxy: (kind, frontend) => ({
    ...kind,
    replacements: (site) => {
      const [, backend = ''] = readFileSync(join(projectRoot, 'deploy/haproxy/haproxy.cfg'), 'utf8').split(
        /(?=\nbackend login_relay\n)/,
      );
      const servers = site.relayPorts.map((port, index) => `  server relay${index + 1} 127.0.0.1:${port}\n`);
      const ofAll = backend.replace(/( {2}server relay\d .*\n)+/, servers.join(''));
      return [
        [/127\.0\.0\.1([: ])8000/g, `127.0.0.1$1${frontend}`],
        [
          '\nbackend wiki\n',
          `\nfrontend relays\n  bind 127.0.0.1:${frontend}\n  default_backend login_relay\n${ofAll}\nbackend wiki\n`,
        ],
        ...unlessOfRelay(kind, site),
      ];
    },
  }),
};
const unlessOfRelay = (kind: BalancerKind, site: Site) =>
  kind.replacements(site).filter(([from]) => !`${from}`.includes('8000'));

const roles = { nginx: 'that nginx asks', haproxy: 'that HAProxy asks', gateway: 'that pass requests on' } as const;
for (const name of ['nginx', 'haproxy', 'gateway'] as const)
  describe(`three relays ${roles[name]}, in front of an application, in browsers`, () => {
    const openPage = useBrowser();
    let application: Serving;
    let memory: MemoryServer;
    let login: Balancer;
    let proxy: Balancer;
    let ports: readonly number[];
    let relays: DoorProcesses;

    before('start them', async () => {
      ports = await Promise.all([freePort(), freePort(), freePort()]);
      [application, memory] = await Promise.all([
        serve(({ headers, url }, response) => {
          response.setHeader('Content-Type', 'text/html');
          response.end(`<h1>${headers['x-forwarded-preferred-username']} at ${url}</h1>`);
        }),
        MemoryServer.start(),
      ]);
      login = await Balancer.start(kinds['haproxy'] ?? expect.fail(), ports);
      if (name === 'gateway') {
        // The relays pass requests on themselves.
        proxy = login;
      } else {
        const kind = browserGuards(() => application.port)[name] ?? expect.fail();
        proxy = await Balancer.start(ofSeveral[name](kind, await freePort()), ports);
      }
      relays = await DoorProcesses.start({
        address: `https://login.localhost:${login.tlsPort}`,
        wiki: `https://wiki.localhost:${proxy.tlsPort}`,
        ports,
        resource: name === 'gateway' ? `, upstream: 'http://127.0.0.1:${application.port}/'` : '',
        lines: `shared-memory: ${memory.address}`,
      });
    });
    beforeEach('all of them get requests', async function () {
      this.timeout(60_000);
      await relays.revive(ports);
      const before = relays.each.map(({ process: { logLines } }) => logLines.length);
      await eventually(async () => {
        await Promise.all([
          request(proxy.port, { path: '/.login-relay/user', authority: 'wiki.localhost' }),
          request(login.port, { path: '/', authority: 'login.localhost' }),
        ]);
        for (const [index, { process: relay }] of relays.each.entries()) {
          const actions = relay.logLines.slice(before[index]).map(({ action }) => action);
          expect(actions).to.include.members(['door-user', 'home']);
        }
      });
    });
    after('stop them', async () => {
      await Promise.all([...new Set([login, proxy])].map((balancer) => balancer.stop()));
      await Promise.all([relays.stop(), application.close()]);
      await memory.stop();
    });

    /** A browser that meets the relays only through the proxies. */
    function person(): DoorBrowser {
      const { address, provider } = relays;
      return new DoorBrowser({ address, provider, port: login.port }, proxy.port);
    }
    async function loggedIn(): Promise<DoorBrowser> {
      const one = person();
      expect((await one.visit(`${relays.wiki}/`)).text).to.include('ada at /');
      return one;
    }
    const statusOf = async (one: DoorBrowser) => (await one.open(`${relays.wiki}/x`, fetching)).status;

    it('serve everybody who is logged in, while one of them is killed', async () => {
      const people = await Promise.all(Array.from({ length: 8 }, loggedIn));
      const statuses: number[] = [];
      let isOver = false;
      const using = people.map(async (one) => {
        while (!isOver) statuses.push(await statusOf(one));
      });
      const enough = async (count: number) => await eventually(async () => expect(statuses.length).to.be.above(count));
      await enough(100);
      await relays.kill(relays.each[1] ?? expect.fail());
      await enough(statuses.length + 300);
      isOver = true;
      await Promise.all(using);
      expect(new Set(statuses)).to.deep.equal(new Set([200]));
      // Others get in meanwhile.
      await loggedIn();
    });

    for (const [index, before] of ['the start', 'the provider', 'the callback', 'the page'].entries()) {
      it(`end a login if one of them is killed before ${before}`, async () => {
        const one = person();
        const follow = async (address: string) => (await one.open(address)).headers['location'] ?? '';
        let next = await follow(`${relays.wiki}/notes`);
        if (index > 0) next = await follow(next);
        if (index > 1) next = await follow(granted(relays.provider, new URL(next)));
        if (index > 2) next = await follow(next);
        await relays.kill(relays.each[index % 3] ?? expect.fail());
        expect((await one.visit(next)).text).to.include('ada at /notes');
      });
    }

    it('lose at most the login whose code a relay redeems while it is killed, and a link starts this login again', async () => {
      const other = await loggedIn();
      const { promise: patience, resolve: release } = Promise.withResolvers<void>();
      const { onToken } = relays.provider;
      relays.provider.onToken = async (response, call) => {
        await patience;
        onToken(response, call);
      };
      const calls = relays.provider.credentials('token').length;
      const one = person();
      const visit = one.visit(`${relays.wiki}/notes`);
      await eventually(async () => expect(relays.provider.credentials('token')).to.have.length(calls + 1));
      await relays.kill(await busyRelay(relays));
      expect(await statusOf(other)).to.equal(200);
      release();
      relays.provider.onToken = onToken;
      const page = await visit;
      expect([page.status, page.text]).to.satisfy(
        ([status, text]: [number, string]) => [400, 502].includes(status) && text !== '',
      );
      expect(one.logins).to.equal(1);
      expect((await one.visit(`${relays.wiki}/notes`)).text).to.include('ada at /notes');
      expect(await statusOf(other)).to.equal(200);
    });

    // This does not depend on the proxy, and takes half a minute.
    if (name === 'nginx')
      it('all know of a logout within a minute, whichever of them was asked', async function () {
        this.timeout(90_000);
        const one = await loggedIn();
        const cookie: [string, string] = ['Cookie', one.jar.headerFor(new URL(relays.wiki))];
        const headers: [string, string][] = [
          ...fetching,
          cookie,
          ['X-Forwarded-Method', 'GET'],
          ['X-Forwarded-Uri', '/x'],
        ];
        const statuses = async () =>
          await Promise.all(
            relays.each.map(async ({ port }) => (await request(port, { path: '/auth/check/wiki', headers })).status),
          );
        expect(await statuses()).to.deep.equal([204, 204, 204]);
        const begin = performance.now();
        const own = navigationWith('Sec-Fetch-Site', 'same-origin');
        expect((await one.open(`${relays.wiki}/.login-relay/logout`, own, 'POST', '')).status).to.equal(303);
        while (performance.now() - begin < 60_000) {
          if ((await statuses()).every((status) => status === 401)) return;
          await new Promise((resolve) => setTimeout(resolve, 500));
        }
        expect(await statuses()).to.deep.equal([401, 401, 401]);
      });

    it('behave like a single relay for Chromium', async () => {
      const page = await openPage({ ignoreHTTPSErrors: true });
      await page.goto(`${relays.wiki}/first`);
      expect(await page.textContent('h1')).to.equal('ada at /first');
      await relays.kill(relays.each[2] ?? expect.fail());
      for (let visit = 0; visit < 9; visit += 1) {
        await page.goto(`${relays.wiki}/page/${visit}`);
        expect(await page.textContent('h1')).to.equal(`ada at /page/${visit}`);
      }
      const other = await openPage({ ignoreHTTPSErrors: true });
      await other.goto(`${relays.wiki}/other`);
      expect(await other.textContent('h1')).to.equal('ada at /other');
      await page.goto(`${relays.wiki}/.login-relay/logout`);
      await page.click('form button');
      await page.waitForURL(/logout$/);
      expect(await page.textContent('h1')).to.include('logged out');
    });
  });

/** The relay that waits for the provider. */
async function busyRelay(relays: DoorProcesses): Promise<Relay> {
  for (const relay of relays.each) {
    if (/^login_relay_provider_calls_in_flight 1$/m.test(await relay.metrics())) return relay;
  }
  throw new Error('no relay waits for the provider');
}
