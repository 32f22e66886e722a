import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { pino } from 'pino';
import { describeDemo } from '../../src/cli/commands/demo.ts';
import { type Demo, startDemo } from '../../src/demo/demo.ts';
import { parseOwnPage } from '../../src/demo/own-page.ts';
import { demoPages } from '../../src/demo/pages.ts';
import { type DemoOptions, openPort } from '../../src/demo/ports.ts';
import { ConfigError } from '../../src/failures/start-errors.ts';
import { FakeBrowser, navigation } from '../harness/browser/fake-browser.ts';
import { projectRoot } from '../harness/project/run.ts';
import { RelayProcess, runRelay } from '../harness/relay/relay-process.ts';

describe('demo', () => {
  const start = (options: DemoOptions) => startDemo(options, pino({ enabled: false }));

  async function withDemo(use: (demo: Demo) => Promise<void>, own?: DemoOptions['own']) {
    const demo = await start({ port: 0, own });
    try {
      await use(demo);
    } finally {
      await demo.close();
    }
  }

  it('logs a command line in that registers itself, after the person has consented', async () => {
    await withDemo(async ({ relayUrl }) => {
      const file = fileURLToPath(new URL('../../examples/command-line/login.js', import.meta.url));
      const program = spawn(process.execPath, [file, `${relayUrl}/auth/provider`], { env: {} });
      const lines = createInterface({ input: program.stdout })[Symbol.asyncIterator]();
      const { value: opened } = await lines.next();
      const browser = new FakeBrowser();
      const consent = await browser.visit(`${opened}`.replace('Open ', ''));
      expect(`${consent.body}`).to.contain('A command line');
      const loginPage = await browser.submit(consent, { decision: 'confirmed' });
      const done = await browser.submit(loginPage, { name: 'Ada' });
      expect(`${done.body}`).to.equal('You can close this page.');
      expect((await lines.next()).value).to.equal('You are ada');
    });
  });

  it('has notes that lead a client without a login to the relay', async () => {
    await withDemo(async ({ notesUrl, relayUrl }) => {
      const { status, headers } = await fetch(notesUrl, { headers: { 'X-Forwarded-User': 'ada' } });
      expect(status).to.equal(401);
      const [, url = ''] = /resource_metadata="(.*?)"/.exec(headers.get('www-authenticate') ?? '') ?? [];
      expect(await (await fetch(url)).json()).to.deep.include({
        resource: notesUrl,
        authorization_servers: [`${relayUrl}/auth/provider`],
      });
    });
  });

  it('has a dashboard that opens to a browser after a login, and closes after a logout', async () => {
    await withDemo(async ({ dashboardUrl, frontEndUrl }) => {
      expect(await (await fetch(frontEndUrl)).text()).to.contain(`<a href="${dashboardUrl}">`);
      const browser = new FakeBrowser();
      const claimed: typeof navigation = [...navigation, ['X-Forwarded-Preferred-Username', 'eve']];
      const loginPage = await browser.visit(dashboardUrl, { headers: claimed });
      expect(`${loginPage.body}`).to.contain('Demo provider').and.not.to.contain('The dashboard of');
      const opened = await browser.submit(loginPage, { name: 'Ada' });
      expect(opened.url.href).to.equal(dashboardUrl);
      expect(`${opened.body}`).to.contain('The dashboard of ada');
      const claiming = await browser.open(dashboardUrl, { headers: claimed });
      expect(`${claiming.body}`).to.contain('The dashboard of ada').and.not.to.contain('eve');
      const question = await browser.visit(new URL('/.login-relay/logout', dashboardUrl).href);
      expect(`${(await browser.submit(question)).body}`).to.contain('You are logged out');
      expect(`${(await browser.visit(dashboardUrl)).body}`).to.contain('Demo provider');
    });
  });

  it('names documents that exist', () => {
    for (const { guide } of Object.values(demoPages)) {
      const [file = '', anchor] = guide.split('#');
      const titles = readFileSync(join(projectRoot, file), 'utf8').matchAll(/^#+ (.*)$/gm);
      const anchors = [...titles].map(([, title = '']) => title.toLowerCase().replaceAll(' ', '-'));
      if (anchor !== undefined) expect(anchors).to.include(anchor);
    }
  });

  it('shows the very lines that each page runs, which know nothing of the demo', async () => {
    await withDemo(async ({ frontEndUrl, relayUrl }) => {
      for (const { path } of Object.values(demoPages)) {
        const page = await (await fetch(frontEndUrl + path)).text();
        const [, script] = /<script type="module" id="script" src="(.*?)"/.exec(page) ?? [];
        const [, lines = ''] = /<pre><code>(.+?)<\/code>/s.exec(page) ?? [];
        const entities = { '&gt;': '>', '&lt;': '<', '&amp;': '&', '&#39;': "'", '&quot;': '"' };
        const source = Object.entries(entities).reduce((text, pair) => text.replaceAll(...pair), lines);
        expect(source).to.not.equal('');
        expect(await (await fetch(frontEndUrl + script)).text()).to.equal(source);
        const imported = [...source.matchAll(/from '(.*?)'/g)].map(([, from]) => from);
        expect([`${relayUrl}/client.js`, './page.js']).to.include.members(imported);
        expect(source).not.to.contain('localhost:8000');
      }
    });
  });

  describe('with a page of one’s own', () => {
    const origin = 'http://localhost:5173';

    it('takes a delivery, and session only at the relay’s own site', () => {
      const parse = (at: string, tokenDelivery: string) => parseOwnPage({ origin: at, tokenDelivery })?.tokenDelivery;
      for (const delivery of ['query', 'fragment', 'code', 'session']) {
        expect(parse(origin, delivery)).to.equal(delivery);
      }
      expect(() => parse(origin, 'cms')).to.throw(ConfigError);
      for (const at of ['http://127.0.0.1:5173', 'https://localhost:5173', 'http://a.localhost']) {
        expect(() => parse(at, 'session'), at).to.throw(ConfigError);
      }
      expect(() => parseOwnPage({ tokenDelivery: 'code' })).to.throw(ConfigError);
      expect(parseOwnPage({})).to.equal(undefined);
    });

    it('takes only origins of this machine', () => {
      for (const [given, read] of [
        ['http://localhost:5173/', 'http://localhost:5173'],
        ['https://LOCALHOST:5173', 'https://localhost:5173'],
      ] as const) {
        expect(parseOwnPage({ origin: given })?.origin).to.equal(read);
      }
      for (const [given, what] of [
        ['https://app.example.com', 'must be on this machine'],
        ['http://localhost.example.com', 'must be on this machine'],
        ['http://localhost:5173/app', 'must have no path'],
        ['http://localhost:5173/?x', 'must have no query'],
        ['localhost:5173', 'must be a URL that starts with'],
      ] as const) {
        const parse = () => parseOwnPage({ origin: given });
        expect(parse, given).to.throw(ConfigError).with.nested.property('faults[0]').contains(`--origin ${what}`);
      }
    });
  });

  it('uses the next free ports if no port is given, and says so', async () => {
    // If it cannot be opened, another program has it.
    const taken = await openPort(8000, 'a test').catch(() => undefined);
    const demo = await start({ port: undefined });
    await Promise.all([demo.close(), taken?.close()]);
    // The other program may have ended meanwhile.
    const first = taken ? 8001 : 8000;
    for (const url of [demo.relayUrl, demo.frontEndUrl, demo.providerUrl]) {
      expect(Number(new URL(url).port)).to.be.within(first, 8103);
    }
    if (taken) expect(demo.isUsualPortTaken).to.equal(true);
    expect(describeDemo({ ...demo, isUsualPortTaken: true })).to.contain('Not all of the usual ports');
    expect(describeDemo({ ...demo, isUsualPortTaken: false })).not.to.contain('usual');
  });

  it('refuses ports that leave no room for three, or are none', async () => {
    for (const port of [-1, 65534, 1.5, Number.NaN]) {
      expect(await start({ port }).catch((e) => e), `${port}`).to.be.instanceOf(ConfigError);
    }
  });

  describe('on the command line', () => {
    it('prints its address, and requests without queries; Ctrl-C ends it with code 0', async () => {
      const demo = new RelayProcess({ words: ['demo'], flags: { port: '0' } });
      const address = (name: string) =>
        demo.output((stdout) => new RegExp(`^ *${name} +(http://\\S+)\n`, 'm').exec(stdout)?.[1]);
      const relayUrl = await address('relay');
      const frontEndUrl = await address('front end');
      const providerUrl = await address('provider');
      const notesUrl = await address('notes');
      const dashboardUrl = await address('dashboard');
      const browser = new FakeBrowser();
      const startUrl = `${relayUrl}/auth/provider`;
      const cancelled = await browser.submit(await browser.visit(startUrl), { action: 'cancel' });
      expect(cancelled.url.href).to.contain(`${startUrl}/callback`);
      expect(cancelled.status).to.equal(400);
      const { url } = await browser.submit(await browser.visit(startUrl), { name: 'Ada' });
      expect(url.href).to.contain(frontEndUrl).and.contain('access_token=');

      const { code, signal, stdout, stderr } = await demo.stop('SIGINT');
      expect({ code, signal, stderr }).to.deep.equal({ code: 0, signal: null, stderr: '' });
      const urls = { relayUrl, frontEndUrl, providerUrl, notesUrl, dashboardUrl };
      const described = describeDemo({ ...urls, own: undefined, isUsualPortTaken: false });
      expect(stdout.slice(0, described.length)).to.equal(described);
      const log = stdout.slice(described.length);
      expect(log)
        .to.match(/GET \/auth\/provider 307 ok .*\n +on to the provider/)
        .and.match(/GET \/auth\/provider\/callback 400 access_denied/)
        .and.match(/GET \/auth\/provider\/callback 307 ok .*\n +logged in, back to the page/);
      expect(log).not.to.match(/[?&](code|state|access_token)=/);
      expect(log).not.to.contain(url.searchParams.get('access_token'));
    });

    it('says in one line which port is taken, and exits with 1', async () => {
      const taken = await openPort(0, 'a test');
      const ending = await runRelay({ words: ['demo'], flags: { port: String(taken.port) } });
      await taken.close();
      expect(ending).to.deep.include({
        code: 1,
        stdout: '',
        stderr: `login-relay: port ${taken.port}, for the relay of the demo, is already in use\n`,
      });
    });
  });
});
