import { expect } from 'chai';
import { navigation } from '../harness/browser/fake-browser.ts';
import { json, reset } from '../harness/provider/provider-behaviours.ts';
import { baseUrl } from '../harness/relay/relay.ts';
import { type DoorBrowser, doorRelay, fetching, ownForm, settings, wiki } from './support/door-relay.ts';

const doorCookie = '__Host-Http-lr_door';
const ownHost = new URL(wiki).host;

describe('a login of a browser at a resource that cannot end', () => {
  const relay = doorRelay();
  let person: DoorBrowser;
  beforeEach(async () => {
    await relay().restart(settings);
    person = relay().person();
  });
  const starts = () => person.trail.filter((address) => address.includes('/door/wiki')).length;

  for (const [what, keeps, heading] of [
    ['refuses all cookies', () => false, 'Login failed'],
    ['refuses those of the resource', (_: string, host: string) => host !== ownHost, 'Login failed'],
    ['refuses those of the login', (_: string, host: string) => host === ownHost, 'Login failed'],
    ['refuses the cookie of the door', (name: string) => name !== doorCookie, 'The cookie is missing'],
    ['keeps only the cookies of the try', (name: string) => /login_[0-9a-f]{16}$/.test(name), 'The cookie is missing'],
    ['forgets that it has finished', (name: string) => !/door$|finished/.test(name), 'The cookie is missing'],
  ] as const) {
    it(`redirects once, and then is a page, if the browser ${what}`, async () => {
      person.keepsCookie = keeps;
      const page = await person.visit(`${wiki}/notes`);
      expect(page.text).to.include(heading).and.include('<a href=');
      expect(page.status).to.be.within(400, 403);
      expect(starts()).to.equal(1);
    });
  }

  it('is a page at the second start at once, if the proxy does not hand the cookies to the check', async () => {
    person.proxyPassesCookies = false;
    const page = await person.visit(`${wiki}/notes`);
    expect(page.text).to.include('The cookie is missing').and.include('Go on to wiki.example.com');
    expect(starts()).to.equal(2);
  });

  it('is a page at once, and one warning for the operator, if the proxy asks the check about the paths of the relay', async () => {
    const start = await person.open(`${wiki}/notes`);
    relay().lines.length = 0;
    const callback = `${wiki}/.login-relay/callback?code=x&state=y`;
    const cookie: [string, string] = ['Cookie', person.jar.headerFor(new URL(wiki))];
    for (const endpoint of ['check', 'answer']) {
      const page = await relay().check(callback, [...navigation, cookie], { endpoint });
      expect([page.status, page.headers['location'], page.headers['set-cookie']], endpoint).to.deep.equal([
        401,
        undefined,
        undefined,
      ]);
      expect(`${page.body}`).to.include('Logins cannot end here').and.not.include('<a href=');
      const told = await relay().check(`${wiki}/.login-relay/user`, fetching, { endpoint });
      expect(told.status).to.equal(401);
    }
    const warnings = relay().lines.filter(({ msg }) => msg !== 'request');
    expect(warnings.map(({ level, msg, resource }) => [level, msg, resource])).to.deep.equal([
      [40, 'the proxy asks the check about /.login-relay/, so no login can end: send it to the relay', 'wiki'],
    ]);
    const outcomes = relay().lines.flatMap(({ msg, outcome }) => (msg === 'request' ? [outcome] : []));
    expect(new Set(outcomes)).to.deep.equal(new Set(['relay_paths_checked', 'resource_token_missing']));
    // A proxy that sends the paths to the relay ends the same login.
    expect((await person.visit(start.headers['location'] ?? '')).text).to.include('42 at /notes');
  });

  for (const host of ['127.0.0.1:8000', 'wiki_relay', new URL(baseUrl).host]) {
    it(`is a page about the host if the proxy sends the callback with Host: ${host}`, async () => {
      const sending = { path: '/.login-relay/callback?code=x&state=y', authority: host, headers: navigation };
      const page = await relay().send(sending);
      expect(page.status).to.equal(421);
      expect(`${page.body}`).to.include('Does a proxy change it?').and.not.include('wiki.example.com');
      const line = relay().lines.findLast(({ outcome }) => outcome === 'host_unknown');
      expect(line).to.deep.include({ asked: host, known: ['relay.example', 'wiki.example.com', 'board.example.org'] });
    });
  }

  it('does not depend on the clock of the browser, because each cookie has a Max-Age and no Expires', async () => {
    await person.visit(`${wiki}/notes`);
    relay().ahead = 61 * 60_000;
    await person.visit(`${wiki}/notes`);
    expect(person.logins).to.equal(2);
    expect(person.set).to.have.length.above(8);
    for (const line of person.set)
      expect(line)
        .to.match(/; Max-Age=\d+/)
        .and.not.match(/Expires/i);
  });

  it('is a page if the browser loses the cookie after the login, and a link starts another', async () => {
    await person.visit(`${wiki}/notes`);
    person.cookies(wiki).delete(doorCookie);
    const page = await person.visit(`${wiki}/notes`);
    expect(page.text).to.include('The cookie is missing');
    expect(starts()).to.equal(1);
    const [, link = ''] = /<a href="([^"]+)">Log in again/.exec(page.text) ?? [];
    expect((await person.visit(link.replaceAll('&amp;', '&'))).text).to.include('42 at / with');
    // A minute later, a login starts by itself again.
    person.cookies(wiki).delete(doorCookie);
    relay().ahead = 120_000;
    expect((await person.visit(`${wiki}/notes`)).text).to.include('42 at /notes');
  });

  it('is a page about the relays if one of them does not accept the cookie that another one has set', async () => {
    await person.visit(`${wiki}/notes`);
    await relay().reload({ ...settings, files: { './key': `${'another key '.repeat(4)}\n` } });
    const page = await person.visit(`${wiki}/notes`);
    expect(page.status).to.equal(400);
    expect(page.text).to.include('The cookie is not accepted').and.include('the same key');
    expect(starts()).to.equal(1);
    const [, link = ''] = /<a href="([^"]+)">Log in again/.exec(page.text) ?? [];
    expect((await person.visit(link.replaceAll('&amp;', '&'))).text).to.include('42 at / with');
  });

  it('is a page if the cookie is there twice, as a sibling host could set it on plain http', async () => {
    await person.visit(`${wiki}/`);
    const header = person.jar.headerFor(new URL(wiki));
    const doubled = await relay().check(`${wiki}/`, [...navigation, ['Cookie', `${doorCookie}=x; ${header}`]]);
    expect(doubled.status).to.equal(400);
    expect(`${doubled.body}`).to.include('The cookie is missing');
  });

  it('is a page each time if the provider fails, and the next page starts again', async () => {
    relay().provider.onToken = reset;
    for (const count of [1, 2]) {
      expect((await person.visit(`${wiki}/notes`)).status).to.equal(502);
      expect(starts()).to.equal(count);
    }
  });

  it('is a page without a link if only the operator can repair it', async () => {
    relay().provider.onToken = json({ error: 'invalid_client' }, 401);
    const page = await person.visit(`${wiki}/notes`);
    expect(page.text).to.include('Only its operator can fix this').and.not.include('<a ');
  });

  it('has ended if the callback is opened again, in the same browser, in another browser, or from the history', async () => {
    await person.visit(`${wiki}/notes`);
    const [first = '', second = ''] = person.trail.filter((address) => address.includes('/.login-relay/callback'));
    const before = person.logins;
    const again = await person.visit(first);
    expect(again.status).to.equal(400);
    expect(again.text).to.include('Login already finished').and.include('href="/"');
    // The second step needs no code: with a good cookie, it leads to the resource.
    expect((await person.visit(second)).text).to.include('42 at / with');
    const other = relay().person();
    for (const address of [first, second]) {
      const page = await other.visit(address);
      expect(page.status, address).to.equal(400);
      expect(other.cookies(wiki).has(doorCookie)).to.equal(false);
    }
    expect(person.logins).to.equal(before);
    expect((await person.open(`${wiki}/x`, fetching)).status).to.equal(200);
  });

  it('ends once if its callback is opened twice at the same time', async () => {
    const start = await person.open(`${wiki}/notes`);
    const asked = await person.open(start.headers['location'] ?? '');
    const code = relay().provider.authorize(new URL(asked.headers['location'] ?? ''));
    const { searchParams } = new URL(asked.headers['location'] ?? '');
    const back = `${searchParams.get('redirect_uri')}?${new URLSearchParams({ code, state: searchParams.get('state') ?? '' })}`;
    const callback = (await person.open(back)).headers['location'] ?? '';
    const answers = await Promise.all([person.open(callback), person.open(callback)]);
    expect(answers.map(({ status }) => status).sort()).to.deep.equal([302, 400]);
    expect(relay().provider.calls.filter(({ endpoint }) => endpoint === 'token')).to.have.length(1);
    expect((await person.open(`${wiki}/x`, fetching)).status).to.equal(200);
  });

  it('leads ten tabs that start at once to their pages, with a single login', async () => {
    const addresses = Array.from({ length: 10 }, (_, index) => `${wiki}/tab${index}?${'q'.repeat(40)}`);
    const starts = await Promise.all(addresses.map((address) => person.open(address)));
    // The provider takes a moment.
    relay().ahead = 100;
    const pages = await Promise.all(starts.map(({ headers }) => person.visit(headers['location'] ?? '')));
    for (const [index, { text }] of pages.entries()) expect(text).to.include(`42 at /tab${index}?qqq`);
    expect([...person.cookies(wiki).keys()].filter((name) => /login_[0-9a-f]{16}$/.test(name))).to.deep.equal([]);
    expect(person.jar.headerFor(new URL(wiki)).length).to.be.lessThan(2048);
  });

  it('keeps its cookies below 8 KB, however long the addresses are, and the newest login ends well', async () => {
    const long = (index: number) => `${wiki}/${index}/${'p'.repeat(980)}`;
    for (let index = 0; index < 30; index += 1) {
      await person.open(long(index));
      expect(person.jar.headerFor(new URL(wiki)).length).to.be.lessThan(8192);
    }
    const last = await person.open(long(30));
    expect((await person.visit(last.headers['location'] ?? '')).text).to.include(`42 at /30/ppp`);
  });
});

describe('the answer for a proxy that cannot pass on the answer of the check', () => {
  const relay = doorRelay();
  beforeEach(async () => await relay().restart(settings));
  const answer = { endpoint: 'answer' };

  it('decides as the check does', async () => {
    const start = await relay().check(`${wiki}/a?b`, navigation, answer);
    expect(start.status).to.equal(302);
    expect(start.headers['location']).to.include('/auth/provider/door/wiki?state=');
    expect(start.headers['set-cookie']).to.have.length(1);
    expect((await relay().check(`${wiki}/a`, fetching, answer)).status).to.equal(401);
    const posted = await relay().check(`${wiki}/a`, ownForm, { ...answer, method: 'POST' });
    expect(`${posted.status} ${posted.body}`).to.match(/^401 .*Log in, then send again/s);
    expect((await relay().send({ path: '/auth/answer/wiki', headers: navigation })).status).to.equal(400);
  });

  it('sends a browser whose cookie is good back to its page once, and then shows a page', async () => {
    const person = relay().person();
    await person.visit(`${wiki}/`);
    const cookie = (): [string, string] => ['Cookie', person.jar.headerFor(new URL(wiki))];
    const back = await relay().check(`${wiki}//evil.example/%2e?b`, [...navigation, cookie()], answer);
    expect([back.status, back.headers['location']]).to.deep.equal([302, `${wiki}//evil.example/?b`]);
    person.jar.keep(new URL(wiki), back);
    const page = await relay().check(`${wiki}/a`, [...navigation, cookie()], answer);
    expect(`${page.status} ${page.body}`).to.match(/^503 .*The proxy does not let you pass/s);
    expect((await relay().check(`${wiki}/a`, [...fetching, cookie()], answer)).status).to.equal(503);
  });
});
